"""The thumbnail of a model: a transparent picture of 512 pixels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backend.processing import limits
from backend.processing.render.camera import projection, view
from backend.processing.render.raster import Raster
from backend.processing.render.shading import Shading, occlusion
from backend.processing.scene import Floats, Indices, Material, Part

_OVERSAMPLING = 2
_SIZE = limits.THUMBNAIL_PIXELS * _OVERSAMPLING
_LINE_ELEMENT = 0xFFFFFFFE
_LINE_COLOR = 0.25


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Elements in the picture, numbered from `first` on: triangles (rows of three) or points."""

    first: int
    part: Part
    pixels: Floats
    elements: Indices


def thumbnail(parts: Sequence[Part], materials: Sequence[Material], up: str) -> Image.Image | None:
    """Return the picture of a model, None if nothing of it is visible."""
    positions = [part.positions for part in parts]
    everything = np.concatenate(positions) if positions else np.zeros((0, 3))
    # Squares of larger coordinates would overflow.
    everything = everything[(np.abs(everything) < 1e100).all(1)]
    if not len(everything):
        return None
    camera = view(up)
    project = projection(everything, camera, _SIZE)
    raster, drawn = Raster(_SIZE), list[_Drawn]()
    for part in parts:
        _draw(part, project(part.positions), raster, drawn)
    hit = raster.hit
    if not hit.any():
        return None
    elements, depth = raster.elements, raster.depth
    colors = np.full((_SIZE * _SIZE, 3), _LINE_COLOR, np.float32)
    shading = Shading(materials, camera, _SIZE)
    for each in drawn:
        last = each.first + len(each.elements)
        mine = np.flatnonzero(hit & (elements >= each.first) & (elements < last))
        if not len(mine):
            continue
        chosen = each.elements[elements[mine] - each.first]
        if chosen.ndim == 2:
            colors[mine] = shading.surface(each.part, each.pixels, chosen, mine)
        else:
            colors[mine] = shading.points(each.part, chosen, depth[mine])
    factors = occlusion(np.where(hit, depth, 1.05).reshape(_SIZE, _SIZE), 6 * _OVERSAMPLING)
    return _picture(colors * factors.reshape(-1, 1), hit)


def _draw(part: Part, pixels: Floats, raster: Raster, drawn: list[_Drawn]) -> None:
    first = drawn[-1].first + len(drawn[-1].elements) if drawn else 0
    if part.triangles is not None and len(part.triangles):
        raster.triangles(pixels, part.triangles, first)
        drawn.append(_Drawn(first, part, pixels, part.triangles))
        first += len(part.triangles)
    if part.lines is not None and len(part.lines):
        raster.lines(pixels[part.lines], _LINE_ELEMENT, _OVERSAMPLING + 1)
    if part.points is not None and len(part.points):
        numbers = np.arange(len(part.points)) + first
        width = int(np.clip(0.7 * _SIZE / np.sqrt(len(part.points)), 2, 6))
        raster.points(pixels[part.points], numbers, width)
        drawn.append(_Drawn(first, part, pixels, part.points))


def _picture(colors: Floats, hit: NDArray[np.bool_]) -> Image.Image:
    pixels = np.zeros((_SIZE, _SIZE, 4), np.uint8)
    shown = np.clip(np.nan_to_num(colors), 0, 1) * 255 * hit[:, None]
    pixels[..., :3] = shown.reshape(_SIZE, _SIZE, 3)
    pixels[..., 3] = hit.reshape(_SIZE, _SIZE) * 255
    edge = (limits.THUMBNAIL_PIXELS, limits.THUMBNAIL_PIXELS)
    return Image.fromarray(pixels).resize(edge, Image.Resampling.BOX)
