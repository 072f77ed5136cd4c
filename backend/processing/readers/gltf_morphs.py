"""Morph targets of glTF: the shape of a mesh by the weights that it has without an animation."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from backend.processing.readers.accessors import Accessors, whole
from backend.processing.readers.json_values import listing, mapping
from backend.processing.scene import Floats, RefusedError

Json = Mapping[str, Any]


class Shape(NamedTuple):
    """A mesh, and the weights of its targets by the node; none if the node has none."""

    mesh: int
    weights: tuple[float, ...] = ()


def shape_of(node: Json) -> Shape:
    """Return the mesh of a node that has one."""
    return Shape(whole(node["mesh"], "mesh"), weights_of(node))


def weights_of(declared: Json) -> tuple[float, ...]:
    """Return the weights of a node or a mesh."""
    weights = listing(declared.get("weights"))
    for weight in weights:
        if (
            isinstance(weight, bool)
            or not isinstance(weight, int | float)
            or not math.isfinite(weight)
        ):
            raise RefusedError(f"a weight is not a number: {weight!r:.40}")
    return tuple(weights)


def morphed(
    positions: Floats, primitive: Json, weights: tuple[float, ...], accessors: Accessors
) -> Floats:
    """Return the positions of a primitive, moved by its targets."""
    for target, weight in zip(listing(primitive.get("targets")), weights, strict=False):
        index = mapping(target).get("POSITION")
        if not weight or index is None:
            continue
        moves = accessors.read(index)
        if moves.shape != positions.shape:
            raise RefusedError("a morph target has not a place for each vertex")
        positions = positions + weight * moves
    return positions
