"""The thumbnail of a model: a transparent picture of 512 pixels; and views around the model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from backend.processing import limits
from backend.processing.render.camera import projection, reach, view
from backend.processing.render.raster import Raster
from backend.processing.render.shading import Shading, occlusion
from backend.processing.scene import Floats, Indices, Material, Part

# Each pixel is the mean of two by two, which smooths edges at four times the pixels.
_OVERSAMPLING = 2
_CHUNK = 1 << 15  # pixels that are shaded at once: their arrays fit the caches
# Above the number of every triangle, and below the lower half of an empty pixel.
_LINE_ELEMENT = 0xFFFFFFFE
# That of the viewer (`LINE` in web/src/viewer/unlit.ts): it is seen on a light and a dark page.
_LINE_COLOR = (115, 124, 138, 255)
_OCCLUSION_RADIUS = 6


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Elements in the picture, numbered from `first` on: triangles (rows of three) or points."""

    first: int
    part: Part
    pixels: Floats
    elements: Indices


def thumbnail(parts: Sequence[Part], materials: Sequence[Material], up: str) -> Image.Image | None:
    """Return the picture of a model, None if nothing of it is visible."""
    everything = _positions(parts)
    if not len(everything):
        return None
    camera = view(up)
    project = projection(everything, camera, _OVERSAMPLING * limits.THUMBNAIL_PIXELS)
    return _picture(parts, materials, camera, project, limits.THUMBNAIL_PIXELS)


def turntable(parts: Sequence[Part], materials: Sequence[Material], up: str) -> list[Image.Image]:
    """Return pictures from all sides in the order of a turn; none if nothing is visible."""
    everything = _positions(parts)
    if not len(everything):
        return []
    cameras = [
        view(up, frame / limits.TURNTABLE_FRAMES) for frame in range(limits.TURNTABLE_FRAMES)
    ]
    within = reach(everything, cameras)  # the size of a turning model must not change
    edge = limits.TURNTABLE_PIXELS
    frames: list[Image.Image | None] = []
    for camera in cameras:
        project = projection(everything, camera, _OVERSAMPLING * edge, within)
        frames.append(_picture(parts, materials, camera, project, edge))
    return [frame or Image.new("RGBA", (edge, edge)) for frame in frames] if any(frames) else []


def _positions(parts: Sequence[Part]) -> Floats:
    positions = [part.positions for part in parts]
    everything = np.concatenate(positions) if positions else np.zeros((0, 3))
    # Squares of larger coordinates would overflow.
    return everything[(np.abs(everything) < 1e100).all(1)]


def _picture(
    parts: Sequence[Part],
    materials: Sequence[Material],
    camera: Floats,
    project: Callable[[Floats], Floats],
    edge: int,
) -> Image.Image | None:
    """Draw with more pixels than the picture has, and scale it down."""
    size = _OVERSAMPLING * edge
    raster, drawn = Raster(size), list[_Drawn]()
    for part in parts:
        pixels = project(part.positions)
        first = drawn[-1].first + len(drawn[-1].elements) if drawn else 0
        if part.triangles is not None and len(part.triangles):
            raster.triangles(pixels, part.triangles, first)
            drawn.append(_Drawn(first, part, pixels, part.triangles))
            first += len(part.triangles)
        if part.lines is not None and len(part.lines):
            raster.lines(pixels[part.lines], _LINE_ELEMENT, 2 * _OVERSAMPLING)
        if part.points is not None and len(part.points):
            numbers = np.arange(len(part.points)) + first
            width = int(np.clip(np.ceil(0.7 * size / np.sqrt(len(part.points))), 2, 16))
            raster.points(pixels[part.points], numbers, width)
            drawn.append(_Drawn(first, part, pixels, part.points))
    hit = raster.hit
    if not hit.any():
        return None
    elements, depth = raster.elements, raster.depth
    # The light that reaches each pixel, at half the resolution.
    pixels = np.where(hit, depth, 1.05).reshape(size, size)[::_OVERSAMPLING, ::_OVERSAMPLING]
    light = occlusion(pixels, _OCCLUSION_RADIUS)
    light = light.repeat(_OVERSAMPLING, 0).repeat(_OVERSAMPLING, 1).reshape(-1)
    picture = np.zeros((size * size, 4), np.uint8)
    picture[hit] = _LINE_COLOR
    shading = Shading(materials, camera, size)
    for element in drawn:
        last = element.first + len(element.elements)
        visible = np.flatnonzero(hit & (elements >= element.first) & (elements < last))
        surface = (
            shading.surface(element.part, element.pixels) if element.elements.ndim == 2 else None
        )
        for start in range(0, len(visible), _CHUNK):
            mine = visible[start : start + _CHUNK]
            chosen = elements[mine] - element.first
            if surface is not None:
                colors = surface.colors(chosen, mine)
            else:
                colors = shading.points(element.part, element.elements[chosen], depth[mine])
            shown = np.nan_to_num(colors * light[mine][:, None])
            picture[mine, :3] = np.clip(shown, 0, 1) * 255
    image = Image.fromarray(picture.reshape(size, size, 4))
    return image.resize((edge, edge), Image.Resampling.BOX)
