"""Normals for parts without any, so that every viewer displays them in the same way."""

from dataclasses import replace

import numpy as np

from backend.processing.scene import Floats, Indices, Part

# Triangles up to which each has its own vertices, which keeps edges sharp. For more, the GLB would
# have up to six times the vertices.
_FLAT_TRIANGLES = 100_000


def with_normals(part: Part) -> Part:
    """Return the part with a normal for each vertex, unless it has them or has no triangles."""
    if part.normals is not None or part.triangles is None or not len(part.triangles):
        return part
    if len(part.triangles) <= _FLAT_TRIANGLES and part.lines is None and part.points is None:
        return _flat(part, part.triangles)
    normals = np.zeros_like(part.positions)
    of_triangles = np.nan_to_num(_of_triangles(part.positions[part.triangles]))
    for corner in range(3):
        for axis in range(3):
            weights = of_triangles[:, axis]
            normals[:, axis] += np.bincount(part.triangles[:, corner], weights, len(normals))
    return replace(part, normals=normals)


def _of_triangles(corners: Floats) -> Floats:
    """Return the normals of triangles; their length is twice the area."""
    with np.errstate(all="ignore"):
        size = np.abs(corners).max(initial=0)
        scaled = corners / size if 0 < size < np.inf else corners
        return np.cross(scaled[:, 1] - scaled[:, 0], scaled[:, 2] - scaled[:, 0])


def _flat(part: Part, triangles: Indices) -> Part:
    order = triangles.reshape(-1)
    positions = part.positions[order]
    return Part(
        positions,
        np.arange(len(order)).reshape(-1, 3),
        normals=np.repeat(_of_triangles(positions.reshape(-1, 3, 3)), 3, 0),
        uv=None if part.uv is None else part.uv[order],
        colors=None if part.colors is None else part.colors[order],
        material=part.material,
        node=part.node,
    )
