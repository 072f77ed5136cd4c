"""Merges parts that are drawn in the same way, for any number of meshes."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.processing.scene import Part


def merge_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts, those with the same material and the same attributes joined to one."""
    alike: defaultdict[tuple[Any, ...], list[Part]] = defaultdict(list)
    for part in parts:
        if len(part.positions):
            attributes = (part.normals, part.uv, part.colors)
            alike[part.material, *(attribute is not None for attribute in attributes)].append(part)
    return [_join(group) if len(group) > 1 else group[0] for group in alike.values()]


def _join(parts: list[Part]) -> Part:
    counts = np.array([len(part.positions) for part in parts])
    starts = np.cumsum(counts) - counts
    return Part(
        np.concatenate([part.positions for part in parts]),
        _elements(parts, starts, lambda part: part.triangles),
        _elements(parts, starts, lambda part: part.lines),
        _elements(parts, starts, lambda part: part.points),
        _attribute(parts, lambda part: part.normals),
        _attribute(parts, lambda part: part.uv),
        _attribute(parts, lambda part: part.colors),
        parts[0].material,
    )


def _elements(
    parts: list[Part], starts: NDArray[np.int64], of: Callable[[Part], NDArray[np.int64] | None]
) -> NDArray[np.int64] | None:
    moved = [
        elements + start
        for part, start in zip(parts, starts, strict=True)
        if (elements := of(part)) is not None and len(elements)
    ]
    return np.concatenate(moved) if moved else None


def _attribute(
    parts: list[Part], of: Callable[[Part], NDArray[np.float64] | None]
) -> NDArray[np.float64] | None:
    values = [array for part in parts if (array := of(part)) is not None]
    return np.concatenate(values) if values else None
