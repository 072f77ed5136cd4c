"""A shape as 75 numbers: models of similar shape have descriptors near each other.

The numbers do not depend on position, size or rotation: 48 of the distribution of distances between
two points of the surface, 24 of the distances to its centre, 3 of the extents along its axes.
"""

from collections.abc import Sequence

import numpy as np

from backend.processing.scene import Part

# Points on the surface, and pairs of them. Fixed numbers: the time does not depend on the number of
# triangles, and a bin of 48 has a thousand pairs on average.
_SAMPLES, _PAIRS = 20_000, 60_000
_SEED = 7  # the same file has the same descriptor


def descriptor(parts: Sequence[Part]) -> list[float] | None:
    """Return the descriptor of the triangles, None if there is no surface."""
    corners = [
        part.positions[part.triangles]
        for part in parts
        if part.triangles is not None and len(part.triangles)
    ]
    if not corners:
        return None
    triangles = np.concatenate(corners)
    triangles = triangles[np.isfinite(triangles).all((1, 2))]
    if not len(triangles):
        return None
    # Of unit size: squares of large or tiny coordinates would overflow or vanish.
    lowest, highest = triangles.min((0, 1)), triangles.max((0, 1))
    size = float((highest - lowest).max())
    if not 0 < size < np.inf:
        return None
    triangles = (triangles - lowest) / size
    first = triangles[:, 0]
    edge, other = triangles[:, 1] - first, triangles[:, 2] - first
    area = np.linalg.norm(np.cross(edge, other), axis=1)
    total = float(area.sum())
    if not total > 0:
        return None
    random = np.random.default_rng(_SEED)
    chosen = np.searchsorted(np.cumsum(area) / total, random.random(_SAMPLES))
    chosen = chosen.clip(0, len(triangles) - 1)
    root, along = np.sqrt(random.random((_SAMPLES, 1))), random.random((_SAMPLES, 1))
    points = first[chosen] + root * ((1 - along) * edge[chosen] + along * other[chosen])
    points -= points.mean(0)
    pairs = random.integers(0, _SAMPLES, (2, _PAIRS))
    distances = np.linalg.norm(points[pairs[0]] - points[pairs[1]], axis=1)
    scale = float(distances.mean()) or 1.0
    between = np.histogram(distances / scale, bins=48, range=(0, 3))[0] / _PAIRS
    radii = np.linalg.norm(points, axis=1) / scale
    around = np.histogram(radii, bins=24, range=(0, 2))[0] / _SAMPLES
    extents = np.sqrt(np.clip(np.linalg.eigvalsh(np.cov(points.T)), 0, None))[::-1]
    numbers = [np.sqrt(between), np.sqrt(around), extents / (extents[0] or 1)]
    return [round(float(number), 6) for number in np.concatenate(numbers)]
