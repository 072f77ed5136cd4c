"""Cuts polygons into triangles."""

from typing import Any

import numpy as np

from backend.processing import limits
from backend.processing.scene import Floats, Indices, RefusedError

# Triangles whose areas are computed at once: their corners take 38 MB.
_CHUNK = 1 << 19
# Vertices of a polygon for ear clipping, whose time may grow with the square: 1.4 to 4 s for this
# many (decision 87).
_CORNERS = 100_000
# A fan is rejected if a reversed triangle exceeds this part of the polygon's area. Less is
# rounding: corners of a flat polygon are seldom exactly in one plane.
_FOLDED = 1e-6


def triangle_order(corners: Indices, counts: Indices, positions: Floats) -> Indices:
    """Return the places of the triangles' corners among the corners of all polygons in a row.

    `corners` are vertices, `counts` the numbers of corners of the polygons. A polygon becomes a fan
    around its first corner, unless the fan leaves the polygon, as with many concave ones: they are
    cut by ear clipping.
    """
    triangles = np.maximum(counts - 2, 0)
    if int(triangles.sum()) > limits.TRIANGLES:
        raise RefusedError(f"more than {limits.TRIANGLES} triangles")
    owner = np.repeat(np.arange(len(counts)), triangles)
    nth = np.arange(len(owner)) - (np.cumsum(triangles) - triangles)[owner]
    begin = (np.cumsum(counts) - counts)[owner]
    order = np.stack([begin, begin + nth + 1, begin + nth + 2], 1)  # fans
    folded = _fold(order, corners, triangles, positions)
    if not len(folded):
        return order
    starts, first = np.cumsum(counts) - counts, np.cumsum(triangles) - triangles
    quads = folded[counts[folded] == 4]
    start = starts[quads]
    order[first[quads]] = np.stack([start + 1, start + 2, start + 3], 1)
    order[first[quads] + 1] = np.stack([start + 1, start + 3, start], 1)
    cut = _Cut(order, corners, positions)
    if int(counts[folded].max()) > _CORNERS:
        raise RefusedError(f"a concave polygon has more than {_CORNERS} corners")
    for polygon in folded[counts[folded] > 4].tolist():
        cut.polygon(int(starts[polygon]), int(counts[polygon]), int(first[polygon]))
    return cut.order()


def _fold(order: Indices, corners: Indices, triangles: Indices, positions: Floats) -> Indices:
    """Return the polygons that their fans do not fill."""
    polygons = np.flatnonzero(triangles > 1)
    ends = np.cumsum(triangles)
    folded, done = [np.zeros(0, np.int64)], 0
    while done < len(polygons):
        begin = ends[polygons[done]] - triangles[polygons[done]]
        until = max(int(np.searchsorted(ends[polygons], begin + _CHUNK)), done + 1)
        chunk = polygons[done:until]
        rows = np.repeat(ends[chunk] - np.cumsum(triangles[chunk]), triangles[chunk])
        chosen = corners[order[rows + np.arange(len(rows))]]
        folded.append(chunk[_leave(chosen, triangles[chunk], positions)])
        done = until
    return np.concatenate(folded)


def _leave(fans: Indices, triangles: Indices, positions: Floats) -> Any:
    """Return for each polygon whether triangles of its fan are turned over."""
    starts = np.cumsum(triangles) - triangles
    known = ((fans >= 0) & (fans < len(positions))).all()
    with np.errstate(all="ignore"):
        points = positions[fans if known else np.clip(fans, 0, len(positions) - 1)]
        areas = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        whole = np.add.reduceat(areas, starts)
        size = np.linalg.norm(whole, axis=1)
        signed = np.einsum("ij,ij->i", areas, np.repeat(whole, triangles, 0))
        return np.minimum.reduceat(signed, starts) < -_FOLDED * size * size


class _Cut:
    """Replaces the fans of single polygons."""

    def __init__(self, order: Indices, corners: Indices, positions: Floats) -> None:
        self._order = order
        self._corners = corners
        self._positions = positions
        self._kept = np.ones(len(order), np.bool_)
        self._cut = [order[:0]]

    def polygon(self, start: int, count: int, first: int) -> None:
        vertices = self._corners[start : start + count]
        if vertices.min() < 0 or vertices.max() >= len(self._positions):
            return
        triangles = ears(self._positions[vertices])
        if len(triangles):
            self._kept[first : first + count - 2] = False
            self._cut.append(triangles + start)

    def order(self) -> Indices:
        if len(self._cut) == 1:
            return self._order
        return np.concatenate([self._order[self._kept], *self._cut])


def ears(points: Floats) -> Indices:
    """Return the triangles of one polygon, which keep its direction; none if it has no area."""
    import mapbox_earcut  # noqa: PLC0415 - the function `InspectCad` does not have it

    moved = points - points[0]
    normal = np.cross(moved[:-1], moved[1:]).sum(0)
    axis = int(np.abs(normal).argmax())
    if not np.isfinite(moved).all() or not abs(normal[axis]) > 0:
        return np.zeros((0, 3), np.int64)
    # In this order of the axes a polygon keeps its direction if its normal points up.
    flat = np.ascontiguousarray(moved[:, [(axis + 1) % 3, (axis + 2) % 3]])
    if normal[axis] < 0:
        flat[:, 0] = -flat[:, 0]
    ring = np.array([len(flat)], np.uint32)
    cut = mapbox_earcut.triangulate_float64(flat, ring).astype(np.int64).reshape(-1, 3)
    edge, other = flat[cut[:, 1]] - flat[cut[:, 0]], flat[cut[:, 2]] - flat[cut[:, 0]]
    if (edge[:, 0] * other[:, 1] - edge[:, 1] * other[:, 0]).sum() < 0:
        cut = cut[:, ::-1]
    return _with_straight_corners(cut, len(flat)) if len(cut) else cut


def _with_straight_corners(triangles: Indices, count: int) -> Indices:
    """Return the triangles, with the corners that ear clipping leaves out on straight edges."""
    used = np.zeros(count, np.bool_)
    used[triangles] = True
    if used.all():
        return triangles
    rows = triangles.tolist()
    # Without these corners, neighbours that have them would leave a gap.
    sides = {(row[i], row[i - 2]): n for n, row in enumerate(rows) for i in range(3)}
    kept = np.flatnonzero(used).tolist()
    for left, after in zip(kept, [*kept[1:], kept[0]], strict=True):
        before = left
        for place in range(left + 1, after if after > left else after + count):
            corner, row = place % count, sides.pop((before, after), None)
            if row is None:  # the polygon crosses itself
                break
            opposite = next(corner for corner in rows[row] if corner not in {before, after})
            rows[row] = [before, corner, opposite]
            rows.append([corner, after, opposite])
            sides[before, corner] = sides[corner, opposite] = row
            sides[corner, after] = sides[after, opposite] = len(rows) - 1
            before = corner
    return np.array(rows, np.int64)
