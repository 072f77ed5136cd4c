"""The orthographic view from which thumbnails are drawn."""

from collections.abc import Callable, Sequence

import numpy as np

from backend.processing.scene import Floats

_AZIMUTH, _ELEVATION = np.radians(35.0), np.radians(25.0)
# Share of the edge that stays empty on each side, so that antialiased edges are not cut off.
_MARGIN = 0.06
_TURNS = {
    "x": np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]]),
    "y": np.eye(3),
    "z": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
}


def upright(up: str) -> Floats:
    """Return the rotation that makes an axis point up along y."""
    return _TURNS[up]


def view(up: str, turned: float = 0.0) -> Floats:
    """Return the camera as rows: to the right, up, towards the viewer.

    It looks from one side of the model, or from a further part of a turn around it.
    """
    away, azimuth = np.cos(_ELEVATION), _AZIMUTH + 2 * np.pi * turned
    back = np.array([np.sin(azimuth) * away, np.sin(_ELEVATION), np.cos(azimuth) * away])
    right = np.cross([0.0, 1, 0], back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back]) @ upright(up)


def reach(points: Floats, cameras: Sequence[Floats]) -> Floats:
    """Return how far the points reach from their centre, in the widest of several views."""
    moved = points - _centre(points)
    return np.max([np.abs(moved @ camera.T).max(0) for camera in cameras], axis=0)


def projection(
    points: Floats, camera: Floats, size: int, within: Floats | None = None
) -> Callable[[Floats], Floats]:
    """Return a function from positions to pixels that fits the points into the picture.

    With `within` the centre of the points is that of the picture, which reaches so far. Columns are
    x and y in pixels, and the depth from 0 (near) to 1 (far).
    """
    # Around the centre first: coordinates of maps would lose their precision in the product.
    centre = _centre(points)
    seen = (points - centre) @ camera.T
    low, high = (seen.min(0), seen.max(0)) if within is None else (-within, within)
    extent = high - low
    scale = size * (1 - 2 * _MARGIN) / max(float(extent[:2].max()), 1e-30)
    depth = 1.0 / max(float(extent[2]), 1e-30)

    def project(positions: Floats) -> Floats:
        with np.errstate(all="ignore"):
            moved = ((positions - centre) @ camera.T - (low + high) / 2) * [scale, -scale, -depth]
        return moved + np.array([size / 2, size / 2, 0.5])

    return project


def _centre(points: Floats) -> Floats:
    return points.min(0) / 2 + points.max(0) / 2
