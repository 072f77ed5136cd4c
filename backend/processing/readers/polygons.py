"""Converts polygons to triangles."""

import numpy as np

from backend.processing import limits
from backend.processing.scene import Indices, RefusedError


def fan_order(counts: Indices) -> Indices:
    """Return, for polygons with these numbers of corners, the places of the triangles' corners.

    A place is an index into the corners of all polygons in a row. Each polygon becomes a fan.
    """
    triangles = np.maximum(counts - 2, 0)
    total = int(triangles.sum())
    if total > limits.TRIANGLES:
        raise RefusedError(f"more than {limits.TRIANGLES} triangles")
    owner = np.repeat(np.arange(len(counts)), triangles)
    nth = np.arange(total) - (np.cumsum(triangles) - triangles)[owner]
    first = (np.cumsum(counts) - counts)[owner]
    return np.stack([first, first + nth + 1, first + nth + 2], 1)


def fans(corners: Indices, counts: Indices) -> Indices:
    """Return the triangles of polygons, from the corners of all in a row."""
    return corners[fan_order(counts)]
