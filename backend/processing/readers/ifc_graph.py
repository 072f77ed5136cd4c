"""The references between the entities of IFC, which a shaper follows without end in a circle."""

import re
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from backend.processing.scene import Indices, RefusedError

# A string or a comment, which may hold what looks like a reference.
_TEXT = re.compile(rb"'[^']*+'|/\*(?:[^*]++|\*(?!/))*+\*/")
_NUMBER = re.compile(rb"#(\d{1,18})(\s*=)?")
_CHUNK = 1 << 24
# Entities that refer to each other in a row. Files have some 30; each is a call in a call.
_STEPS = 500
# Where the entity that has parts, and its parts, are among the attributes of these relations.
# Of an element in several, the last counts.
_RELATIONS = {
    "IfcRelVoidsElement": (4, 5),
    "IfcRelFillsElement": (4, 5),
    "IfcRelNests": (4, 5),
    "IfcRelContainedInSpatialStructure": (5, 4),
    "IfcRelAggregates": (4, 5),
}


def wrong_references(data: bytes) -> Iterator[str]:
    """Return texts about entities that do not exist, and those that are defined twice.

    Raises:
        RefusedError: entities refer to each other in a circle, or in too many steps.
    """
    sources, targets, defined = _references(data)
    known = np.isin(targets, defined)
    require_no_circle(sources[known], targets[known], "its entities refer to each other")
    missing = np.unique(targets[~known])
    if len(missing):
        is_one = len(missing) == 1
        fact = "y that is referred to does" if is_one else "ies that are referred to do"
        yield f"{len(missing)} entit{fact} not exist (first: #{missing[0]})"
    numbers, counts = np.unique(defined, return_counts=True)
    repeated = numbers[counts > 1]
    if len(repeated):
        yield f"{len(repeated)} entities are defined more than once (first: #{repeated[0]})"


def wholes_of(file: Any) -> dict[int, int]:
    """Return what each element is a part of, both by their ids.

    What is contained in a storey may also fill an opening of a wall: the storey counts.

    Raises:
        RefusedError: an element is a part of itself, by way of whatever other elements.
    """
    pairs = np.array([pair for kind in _RELATIONS for pair in _pairs(file, kind)], np.int64)
    pairs = pairs.reshape(-1, 2)
    require_no_circle(pairs[:, 0], pairs[:, 1], "its elements are parts of each other")
    return dict(zip(*pairs.T.tolist(), strict=True)) if len(pairs) else {}


def _pairs(file: Any, kind: str) -> Iterator[tuple[int, int]]:
    """Return the ids of parts, each with that of the whole."""
    whole_at, parts_at = _RELATIONS[kind]
    for relation in file.by_type(kind):
        whole: Any = relation[whole_at]
        parts = cast("tuple[Any, ...] | object", relation[parts_at])
        part: Any
        for part in cast("tuple[Any, ...]", parts) if isinstance(parts, tuple) else (parts,):
            if whole is not None and part is not None:
                yield part.id(), whole.id()


def require_no_circle(sources: Indices, targets: Indices, what: str) -> None:
    """Require that references end.

    Raises:
        RefusedError: they go in a circle, or on for too many steps.
    """
    for _ in range(_STEPS):
        if not len(sources):
            return
        remaining = np.isin(targets, sources)  # the others refer to nothing that is left
        if remaining.all():
            # What only refers to a circle is no part of it.
            while not (inside := np.isin(sources, targets)).all():
                sources, targets = sources[inside], targets[inside]
            raise RefusedError(f"{what} in a circle (first: #{int(sources.min())})")
        sources, targets = sources[remaining], targets[remaining]
    raise RefusedError(f"{what} in more than {_STEPS} steps in a row")


def _references(data: bytes) -> tuple[Indices, Indices, Indices]:
    """Return the entities that refer to others, those others, and all that are defined."""
    sources, targets, defined = (list[NDArray[np.int64]]() for _ in range(3))
    at = 0
    while at < len(data):
        end = data.find(b";\n", at + _CHUNK) + 1 or len(data)
        found = _NUMBER.findall(_TEXT.sub(b"", data[at:end]))
        numbers = np.array([int(number) for number, _ in found], np.int64)
        is_defined = np.array([bool(equals) for _, equals in found], bool)
        place = np.cumsum(is_defined) - 1
        defined.append(numbers[is_defined])
        referring = ~is_defined & (place >= 0)
        sources.append(numbers[is_defined][place[referring]])
        targets.append(numbers[referring])
        at = end
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(defined)
