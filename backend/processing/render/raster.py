"""Scan conversion of triangles, lines and points, vectorised.

Triangles become rows, rows become pixels, and the nearest element of each pixel wins. Time is
proportional to elements and covered pixels; memory is bounded by working on chunks.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from backend.processing.scene import Floats, Indices

Buffer = NDArray[np.uint64]
# Rows and pixels that are expanded at once: some ten arrays of eight bytes each, 10 MB.
_CHUNK = 1 << 17
_EMPTY = np.iinfo(np.uint64).max
# Below the upper half of `_EMPTY`, so that also the farthest element wins against no element.
_FARTHEST = 0xFFFFFFF0
# Triangles whose corners are gathered at once: 3.6 MB.
_PART = 50_000
# Maximum number of times that an image draws each of its pixels, on average. Further elements are
# omitted: a small file of large triangles would otherwise use all of its time.
_OVERDRAW = 120


class Raster:
    """For each pixel the nearest element: its depth above, its number below 32 bits."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._nearest: Buffer = np.full(size * size, _EMPTY, np.uint64)
        self._remaining = _OVERDRAW * size * size

    @property
    def hit(self) -> NDArray[np.bool_]:
        return self._nearest != _EMPTY

    @property
    def elements(self) -> Indices:
        return (self._nearest & np.uint64(0xFFFFFFFF)).astype(np.int64)

    @property
    def depth(self) -> Floats:
        return (self._nearest >> np.uint64(32)).astype(np.float64) / _FARTHEST

    def triangles(self, pixels: Floats, corners: Indices, first: int) -> None:
        """Draw triangles, given as indices of vertices, as the elements from `first` on."""
        for start in range(0, len(corners), _PART):
            some = pixels[corners[start : start + _PART]]
            numbers = np.arange(len(some)) + (first + start)
            good = np.isfinite(some).all((1, 2))
            some, numbers = some[good], numbers[good]
            heights = np.ptp(some[..., 1], axis=1)
            rows = np.clip(heights, 0, self._size).astype(np.int64) + 1
            for part in _chunks(rows):
                if self._remaining < 0:
                    return
                self._spans(some[part], numbers[part])

    def lines(self, ends: Floats, element: int, width: int) -> None:
        """Draw lines of (n, 2, 3), all as one element."""
        ends = ends[np.isfinite(ends).all((1, 2))]
        length = np.abs(ends[:, 0, :2] - ends[:, 1, :2]).max(1) if len(ends) else np.zeros(0)
        steps = np.clip(length, 1, 4 * self._size).astype(np.int64) + 1
        for part in _chunks(steps):
            if self._remaining < 0:
                return
            owner, nth = _expand(steps[part])
            along = (nth / np.maximum(steps[part][owner] - 1, 1))[:, None]
            some = ends[part][owner]
            between = some[:, 0] * (1 - along) + some[:, 1] * along
            self.points(between, np.full(len(between), element), width)

    def points(self, positions: Floats, elements: Indices, width: int) -> None:
        """Draw points as squares of `width` pixels."""
        good = np.isfinite(positions).all(1)
        good &= (np.abs(positions[:, :2]) < 1e9).all(1)
        positions, elements = positions[good], elements[good]
        for dx in range(width):
            for dy in range(width):
                x = (positions[:, 0] + dx - width / 2 + 0.5).astype(np.int64)
                y = (positions[:, 1] + dy - width / 2 + 0.5).astype(np.int64)
                inside = (x >= 0) & (y >= 0) & (x < self._size) & (y < self._size)
                self._put((y * self._size + x)[inside], positions[inside, 2], elements[inside])

    def _put(self, pixels: Indices, depth: Floats, elements: Indices) -> None:
        self._remaining -= len(pixels)
        key = (np.clip(depth, 0, 1) * _FARTHEST).astype(np.uint64) << np.uint64(32)
        np.minimum.at(self._nearest, pixels, key | elements.astype(np.uint64))

    def _spans(self, corners: Floats, numbers: Indices) -> None:
        """Fill the rows of each triangle, from its left to its right edge."""
        y = corners[..., 1]
        first = np.maximum(np.ceil(y.min(1) - 0.5), 0).astype(np.int64)
        last = np.minimum(np.floor(y.max(1) - 0.5), self._size - 1).astype(np.int64)
        owner, nth = _expand(np.maximum(last - first + 1, 0))
        if not len(owner):
            return
        self._remaining -= len(owner)  # rows without pixels take time, too
        row = first[owner] + nth
        left, right = _edges(corners, owner, row + 0.5)
        slope_x, slope_y = _slopes(corners)
        good = np.isfinite(left) & np.isfinite(right)
        good &= (np.isfinite(slope_x) & np.isfinite(slope_y))[owner]
        owner, row, left, right = owner[good], row[good], left[good], right[good]
        begin = np.maximum(np.ceil(left - 0.5), 0).astype(np.int64)
        end = np.minimum(np.floor(right - 0.5), self._size - 1).astype(np.int64)
        counts = np.maximum(end - begin + 1, 0)
        for part in _chunks(counts):
            if self._remaining < 0:
                return
            span, nth = _expand(counts[part])
            span += part.start
            triangle, x = owner[span], begin[span] + nth
            corner = corners[triangle, 0]
            depth = corner[:, 2] + slope_x[triangle] * (x + 0.5 - corner[:, 0])
            depth += slope_y[triangle] * (row[span] + 0.5 - corner[:, 1])
            self._put(row[span] * self._size + x, depth, numbers[triangle])


def _edges(corners: Floats, owner: Indices, height: Floats) -> tuple[Floats, Floats]:
    """Return where the edges of triangles cross rows: the leftmost and the rightmost place."""
    left, right = np.full(len(owner), np.inf), np.full(len(owner), -np.inf)
    with np.errstate(all="ignore"):
        for corner, other in ((0, 1), (1, 2), (2, 0)):
            x, y = corners[owner, corner, 0], corners[owner, corner, 1]
            along = (height - y) / (corners[owner, other, 1] - y)
            crosses = (along >= 0) & (along <= 1)
            place = x + along * (corners[owner, other, 0] - x)
            left = np.where(crosses, np.minimum(left, place), left)
            right = np.where(crosses, np.maximum(right, place), right)
    return left, right


def _slopes(corners: Floats) -> tuple[Floats, Floats]:
    """Return how the depth of triangles changes along x and y."""
    edge, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    with np.errstate(all="ignore"):
        area = edge[:, 0] * other[:, 1] - other[:, 0] * edge[:, 1]
        slope_x = (edge[:, 2] * other[:, 1] - other[:, 2] * edge[:, 1]) / area
        slope_y = (other[:, 2] * edge[:, 0] - edge[:, 2] * other[:, 0]) / area
    return slope_x, slope_y


def _expand(counts: Indices) -> tuple[Indices, Indices]:
    """Return, for counts (2, 3), the owners 0 0 1 1 1 and the numbers 0 1 0 1 2."""
    owner = np.repeat(np.arange(len(counts)), counts)
    start = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - start[owner]


def _chunks(counts: Indices) -> Iterator[slice]:
    """Return slices whose counts sum up to about `_CHUNK`."""
    total, begin = np.cumsum(counts), 0
    while begin < len(counts):
        base = int(total[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(total, base + _CHUNK)), begin + 1)
        yield slice(begin, end)
        begin = end
