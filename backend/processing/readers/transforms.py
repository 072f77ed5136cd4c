"""Moves parts to their place in the scene."""

from dataclasses import replace

import numpy as np

from backend.processing.scene import Floats, Part

UNMOVED = np.eye(4)


def transform(part: Part, world: Floats) -> Part:
    """Return the part with its positions and normals moved by a matrix of 4 by 4."""
    if (world == UNMOVED).all():
        return part
    linear = world[:3, :3]
    if (linear == UNMOVED[:3, :3]).all():  # nearly all instances are only moved
        return replace(part, positions=part.positions + world[:3, 3])
    triangles, normals = part.triangles, part.normals
    with np.errstate(all="ignore"):
        if np.isfinite(linear).all():
            if triangles is not None and np.linalg.det(linear) < 0:
                triangles = triangles[:, ::-1]  # a mirrored triangle has the other winding
            if normals is not None:
                normals = normals @ np.linalg.pinv(linear)
        else:
            normals = None
        positions = part.positions @ linear.T + world[:3, 3]
    return replace(part, positions=positions, triangles=triangles, normals=normals)


def repeat(part: Part, worlds: Floats) -> Part:
    """Return the part once for each of several matrices of 4 by 4, as one."""
    count, vertices = len(worlds), len(part.positions)
    linear = worlds[:, :3, :3]
    starts = np.arange(count)[:, None, None] * vertices
    triangles, normals = part.triangles, part.normals
    with np.errstate(all="ignore"):
        positions = part.positions @ linear.swapaxes(1, 2) + worlds[:, None, :3, 3]
        if triangles is not None:
            mirrored = (np.linalg.det(linear) < 0)[:, None, None]
            triangles = np.where(mirrored, triangles[:, ::-1], triangles) + starts
            triangles = triangles.reshape(-1, 3)
        if normals is not None:
            is_finite = np.isfinite(linear).all()
            normals = (normals @ np.linalg.pinv(linear)).reshape(-1, 3) if is_finite else None
    return Part(
        positions.reshape(-1, 3),
        triangles,
        None if part.lines is None else (part.lines + starts).reshape(-1, 2),
        None if part.points is None else (part.points + starts[:, 0]).reshape(-1),
        normals,
        None if part.uv is None else np.tile(part.uv, (count, 1)),
        None if part.colors is None else np.tile(part.colors, (count, 1)),
        part.material,
    )


def opaque(colors: Floats | None) -> Floats | None:
    """Return colours with an alpha channel."""
    if colors is None or colors.shape[1] == 4:
        return colors
    return np.hstack([colors, np.ones((len(colors), 1))])
