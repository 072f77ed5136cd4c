"""The colours of pixels: material, texture, vertex colour and light."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from backend.processing.scene import Floats, Indices, Material, Part
from backend.processing.textures import decode_texture

Single = NDArray[np.float32]
# As many pixels as the picture is drawn with (512, twice oversampled); more could not be seen.
_TEXTURE_PIXELS = 1024
_LIGHT = np.array([-0.45, 0.65, 0.75]) / np.linalg.norm([-0.45, 0.65, 0.75])
_PLAIN = Material()
_DARKEST = np.float32(0.06)


class Shading:
    """Computes the colours of pixels whose elements are known."""

    def __init__(self, materials: Sequence[Material], camera: Floats, size: int) -> None:
        self._materials = materials
        self._camera = camera
        self._size = size
        self._textures: dict[int, Single | None] = {}

    def points(self, part: Part, vertices: Indices, depth: Floats) -> Floats:
        """Return the colours of points: their own, or darker and bluer with the distance."""
        if part.colors is not None:
            return part.colors[vertices, :3]
        near = 1 - depth
        return np.stack([0.35 + 0.5 * near, 0.55 + 0.3 * near, 0.9 - 0.4 * near], 1)

    def surface(self, part: Part, pixels: Floats) -> "Surface":
        """Return the shading of the triangles of a part, given its vertices in pixels."""
        index = part.material
        material = self._materials[index] if 0 <= index < len(self._materials) else _PLAIN
        texture = None if part.uv is None else self._texture(index, material)
        return Surface(part, pixels, material, texture, self._camera, self._size)

    def _texture(self, index: int, material: Material) -> Single | None:
        if index not in self._textures:
            content = material.texture
            image = None if content is None else decode_texture(content, _TEXTURE_PIXELS)
            pixels = None if image is None else np.asarray(image.convert("RGB"), np.float32)
            self._textures[index] = None if pixels is None else pixels / np.float32(255)
        return self._textures[index]


class Surface:
    """The triangles of one part: material, times vertex colour, texture and light."""

    def __init__(
        self,
        part: Part,
        pixels: Floats,
        material: Material,
        texture: Single | None,
        camera: Floats,
        size: int,
    ) -> None:
        self._triangles = np.zeros((0, 3), np.int64) if part.triangles is None else part.triangles
        self._pixels = pixels[:, :2]
        self._size = size
        self._color = np.array(material.color[:3], np.float32)
        self._texture = texture
        self._uv = part.uv
        self._colors = None if part.colors is None else part.colors[:, :3].astype(np.float32)
        with np.errstate(all="ignore"):
            corners = part.positions[self._triangles]
            faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            normals = None if part.normals is None else part.normals @ camera.T
            self._normals = None if normals is None else normals.astype(np.float32)
        self._flat = _light(faces @ camera.T)

    def colors(self, chosen: Indices, mine: Indices) -> Single:
        """Return the colours of the pixels `mine`, each in one of the triangles `chosen`."""
        corners = self._triangles[chosen]
        color = np.repeat(self._color[None], len(mine), 0)
        light = self._flat[chosen]
        if self._texture is None and self._colors is None and self._normals is None:
            return _visible(color) * light[:, None]
        pixels = self._pixels[corners]
        first = pixels[:, 0]
        edge, other = pixels[:, 1] - first, pixels[:, 2] - first
        place = np.stack([mine % self._size + 0.5, mine // self._size + 0.5], 1) - first
        with np.errstate(all="ignore"):
            area = edge[:, 0] * other[:, 1] - other[:, 0] * edge[:, 1]
            second = (place[:, 0] * other[:, 1] - other[:, 0] * place[:, 1]) / area
            third = (edge[:, 0] * place[:, 1] - place[:, 0] * edge[:, 1]) / area
        second = np.nan_to_num(np.clip(second, 0, 1))
        third = np.nan_to_num(np.clip(third, 0, 1))
        weights = np.stack([1 - second - third, second, third], 1)[..., None].astype(np.float32)
        if self._colors is not None:
            color *= (self._colors[corners] * weights).sum(1)
        if self._texture is not None and self._uv is not None:
            color *= _sample(self._texture, (self._uv[corners] * weights).sum(1))
        if self._normals is not None:
            normals = (self._normals[corners] * weights).sum(1)
            usable = np.isfinite(normals).all(1) & (np.abs(normals).sum(1) > 0)
            light = np.where(usable, _light(normals), light)
        return _visible(color) * light[:, None]


def _light(normals: Floats | Single) -> Single:
    """Return the light on surfaces with these normals; back sides are lit like front sides."""
    with np.errstate(all="ignore"):
        length = np.sqrt(np.einsum("ij,ij->i", normals, normals))
        facing = np.where(normals[:, 2] < 0, -1, 1) / np.where(length > 0, length, 1)
        above = np.nan_to_num(normals[:, 1] * facing)
        towards = np.nan_to_num(normals @ _LIGHT.astype(normals.dtype) * facing)
    return (0.41 + 0.09 * above + 0.55 * np.clip(towards, 0, 1)).astype(np.float32)


def _visible(color: Single) -> Single:
    """Replace black by dark grey, on which light and shadow still show the form."""
    return _DARKEST + (1 - _DARKEST) * color


def _sample(texture: Single, uv: Floats) -> Single:
    with np.errstate(all="ignore"):
        uv = np.nan_to_num(uv - np.floor(uv))
    height, width = texture.shape[:2]
    row = np.clip((uv[:, 1] * height).astype(np.int64), 0, height - 1)
    column = np.clip((uv[:, 0] * width).astype(np.int64), 0, width - 1)
    return texture[row, column]


def occlusion(depth: Floats, radius: int) -> Floats:
    """Return factors that darken a pixel whose surroundings are nearer to the viewer."""
    behind = np.clip(depth - _blur(depth, radius), 0, 0.25)
    return np.clip(1 - 2.2 * behind, 0.45, 1)


def _blur(values: Floats, radius: int) -> Floats:
    for axis in (0, 1):
        width = [(radius + 1, radius) if axis == side else (0, 0) for side in (0, 1)]
        sums = np.cumsum(np.pad(values, width, mode="edge"), axis=axis)
        places = np.arange(len(values))  # the picture is a square
        ends = np.take(sums, places + 2 * radius + 1, axis)
        values = (ends - np.take(sums, places, axis)) / (2 * radius + 1)
    return values
