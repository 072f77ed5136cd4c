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


def opaque(colors: Floats | None) -> Floats | None:
    """Return colours with an alpha channel."""
    if colors is None or colors.shape[1] == 4:
        return colors
    return np.hstack([colors, np.ones((len(colors), 1))])
