"""The colours of pixels: material, texture, vertex colour and light."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from backend.processing.scene import Floats, Indices, Material, Part
from backend.processing.textures import decoded

_TEXTURE_PIXELS = 1024
_LIGHT = np.array([-0.45, 0.65, 0.75]) / np.linalg.norm([-0.45, 0.65, 0.75])
_PLAIN = Material()


class Shading:
    """Computes the colours of pixels whose elements are known."""

    def __init__(self, materials: Sequence[Material], camera: Floats, size: int) -> None:
        self._materials = materials
        self._camera = camera
        self._size = size
        self._textures: dict[int, NDArray[np.float32] | None] = {}

    def points(self, part: Part, vertices: Indices, depth: Floats) -> Floats:
        """Return the colours of points: their own, or darker and bluer with the distance."""
        if part.colors is not None:
            return part.colors[vertices, :3]
        near = 1 - depth
        return np.stack([0.35 + 0.5 * near, 0.55 + 0.3 * near, 0.9 - 0.4 * near], 1)

    def surface(self, part: Part, pixels: Floats, corners: Indices, mine: Indices) -> Floats:
        """Return the colours of pixels `mine`, each in the triangle with these corners."""
        weights = self._weights(pixels[corners], mine)
        color = np.repeat(np.array([self._material(part.material).color[:3]]), len(mine), 0)
        if part.colors is not None:
            color = color * (part.colors[corners][..., :3] * weights).sum(1)
        texture = self._texture(part.material) if part.uv is not None else None
        if texture is not None and part.uv is not None:
            color = color * _sampled(texture, (part.uv[corners] * weights).sum(1))
        return color * self._light(part, corners, weights)[:, None]

    def _material(self, index: int) -> Material:
        return self._materials[index] if 0 <= index < len(self._materials) else _PLAIN

    def _texture(self, index: int) -> NDArray[np.float32] | None:
        if index not in self._textures:
            content = self._material(index).texture
            image = None if content is None else decoded(content, _TEXTURE_PIXELS)
            pixels = None if image is None else np.asarray(image.convert("RGB"), np.float32)
            self._textures[index] = None if pixels is None else pixels / np.float32(255)
        return self._textures[index]

    def _weights(self, corners: Floats, mine: Indices) -> Floats:
        """The barycentric coordinates of pixels in their triangles."""
        first = corners[:, 0, :2]
        one, other = corners[:, 1, :2] - first, corners[:, 2, :2] - first
        place = np.stack([mine % self._size + 0.5, mine // self._size + 0.5], 1) - first
        with np.errstate(all="ignore"):
            area = one[:, 0] * other[:, 1] - other[:, 0] * one[:, 1]
            second = (place[:, 0] * other[:, 1] - other[:, 0] * place[:, 1]) / area
            third = (one[:, 0] * place[:, 1] - place[:, 0] * one[:, 1]) / area
        second = np.nan_to_num(np.clip(second, 0, 1))
        third = np.nan_to_num(np.clip(third, 0, 1))
        return np.stack([1 - second - third, second, third], 1)[..., None]

    def _light(self, part: Part, corners: Indices, weights: Floats) -> Floats:
        with np.errstate(all="ignore"):
            place = part.positions[corners]
            normal = np.cross(place[:, 1] - place[:, 0], place[:, 2] - place[:, 0])
            if part.normals is not None:
                given = (part.normals[corners] * weights).sum(1)
                usable = np.isfinite(given).all(1) & (np.abs(given).sum(1) > 0)
                normal = np.where(usable[:, None], given, normal)
            normal = normal @ self._camera.T
            length = np.linalg.norm(normal, axis=1, keepdims=True)
            normal = np.nan_to_num(normal / np.where(length > 0, length, 1))
        normal = np.where(normal[:, 2:3] < 0, -normal, normal)  # back sides are lit too
        above = 0.18 * (normal[:, 1] * 0.5 + 0.5)
        return 0.32 + above + 0.55 * np.clip(normal @ _LIGHT, 0, 1)


def _sampled(texture: NDArray[np.float32], uv: Floats) -> Floats:
    with np.errstate(all="ignore"):
        uv = np.nan_to_num(uv - np.floor(uv))
    height, width = texture.shape[:2]
    row = np.clip((uv[:, 1] * height).astype(np.int64), 0, height - 1)
    column = np.clip((uv[:, 0] * width).astype(np.int64), 0, width - 1)
    return texture[row, column].astype(np.float64)


def occlusion(depth: Floats, radius: int) -> Floats:
    """Return factors that darken a pixel whose surroundings are nearer to the viewer."""
    behind = np.clip(depth - _blurred(depth, radius), 0, 0.25)
    return np.clip(1 - 2.2 * behind, 0.45, 1)


def _blurred(values: Floats, radius: int) -> Floats:
    for axis in (0, 1):
        width = [(radius + 1, radius) if axis == each else (0, 0) for each in (0, 1)]
        sums = np.cumsum(np.pad(values, width, mode="edge"), axis=axis)
        places = np.arange(len(values))  # the picture is a square
        ends = np.take(sums, places + 2 * radius + 1, axis)
        values = (ends - np.take(sums, places, axis)) / (2 * radius + 1)
    return values
