"""Instances of objects in AMF. Assimp reads the angles of an instance as distances."""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from backend.processing import limits
from backend.processing.readers.soundness import line_at, no_number, number
from backend.processing.scene import Floats, RefusedError

_ID = re.compile(rb"<object\b[^<>]*?\bid\s*=\s*[\"']([^\"'<>]*)")
_NAMED = re.compile(rb"<constellation\b[^<>]*?\bid\s*=\s*[\"']([^\"'<>]*)")
_INSTANCE = re.compile(rb"<instance\b[^<>]*?\bobjectid\s*=\s*[\"']([^\"'<>]*)")
_PLACE = re.compile(rb"<(delta[xyz]|r[xyz])\s*>([^<]*)<")
_TURN = re.compile(rb"<(r[xyz])\s*>([^<]*)</\1\s*>")
_COORDINATES = re.compile(rb"<x\s*>([^<]*)</x\s*>\s*<y\s*>([^<]*)</y\s*>\s*<z\s*>([^<]*)</z\s*>")
# Constellations within constellations. One that contains itself would be placed for ever.
_DEPTH = 32


class _Instance(NamedTuple):
    """An object or constellation by name, rotated and then moved."""

    name: bytes
    matrix: Floats
    place: Floats

    def around(self, inner: "_Instance") -> "_Instance":
        """Return the place of an instance within this constellation."""
        moved = self.matrix @ inner.place + self.place
        return _Instance(inner.name, self.matrix @ inner.matrix, moved)

    def move_corner(self, corners: re.Match[bytes]) -> bytes:
        corner = np.array([number(corners[nth].strip()) for nth in (1, 2, 3)], np.float64)
        x, y, z = (self.matrix @ corner + self.place).tolist()
        return f"<x>{x!r}</x><y>{y!r}</y><z>{z!r}</z>".encode()


def with_placed_objects(data: bytes) -> bytes:
    """Return AMF in which no instance is rotated: copies of objects stand where they belong.

    Raises:
        RefusedError: an instance is rotated that names nothing or itself, or there are too many.
    """
    if not any(number(turn[2]) for turn in _TURN.finditer(data)):
        return _TURN.sub(b"", data)
    objects: dict[bytes, tuple[bytes, bytes]] = {}  # by id, what is before it and after it
    replaced = list(_elements(data, b"constellation"))
    for begin, end in _elements(data, b"object"):
        if identity := _ID.match(data, begin):
            objects[identity[1]] = data[begin : identity.start(1)], data[identity.end(1) : end]
            replaced.append((begin, end))
    instances = _instances(data)
    used = {instance.name for some in instances.values() for instance in some}
    whole = _Instance(b"", np.eye(3), np.zeros(3))
    waiting = [(0, whole._replace(name=name)) for name in (instances | objects).keys() - used]
    copies, size = list[bytes](), 0
    while waiting:
        depth, placed = waiting.pop()
        if placed.name in instances and depth < _DEPTH:
            waiting += [(depth + 1, placed.around(inner)) for inner in instances[placed.name]]
            continue
        copy = objects.get(placed.name)
        if copy is None:
            shown = placed.name[:40].decode("utf-8", "replace")
            raise RefusedError(f"an instance is of '{shown}', which is no object or too deep")
        before, after = copy
        copies.append(before + b"%d" % len(copies) + _COORDINATES.sub(placed.move_corner, after))
        size += len(copies[-1])
        if size > limits.INPUT_BYTES or len(copies) + len(waiting) > limits.NODES:
            raise RefusedError(f"has more than {limits.NODES} instances, or too large ones")
    kept, at = list[bytes](), 0
    for begin, end in sorted(replaced):
        kept.append(data[at:begin])
        at = end
    root_end = data.rfind(b"</")
    return b"".join([*kept, data[at:root_end], *copies, data[root_end:]])


def _instances(data: bytes) -> dict[bytes, list[_Instance]]:
    """Return what each constellation consists of."""
    constellations: dict[bytes, list[_Instance]] = {}
    for begin, end in _elements(data, b"constellation"):
        name = _NAMED.match(data, begin)
        placed = constellations.setdefault(name[1] if name else b"", [])
        for at, until in _elements(data, b"instance", begin, end):
            if target := _INSTANCE.match(data, at):
                placed.append(_Instance(target[1], *_place(data, at, until)))
    return constellations


def _elements(
    data: bytes, tag: bytes, at: int = 0, until: int | None = None
) -> Iterator[tuple[int, int]]:
    """Return where elements begin and end, which contain none of the same name."""
    while (begin := data.find(b"<" + tag, at, until)) >= 0:
        end = data.find(b"</" + tag, begin, until)
        if end < 0:
            return
        at = data.find(b">", end) + 1 or len(data)
        yield begin, at


def _place(data: bytes, begin: int, end: int) -> tuple[Floats, Floats]:
    """Return the rotation of an instance, about x, then y, then z in degrees, and its place."""
    values: dict[bytes, float] = {}
    for place in _PLACE.finditer(data, begin, end):
        value = number(place[2].strip())
        if value is None or not math.isfinite(value):
            raise no_number(line_at(data, place.start()), place[2].strip())
        values[place[1]] = value
    matrix = np.eye(3)
    for axis, name in enumerate((b"rx", b"ry", b"rz")):
        angle = math.radians(values.get(name, 0.0))
        turn, (first, other) = np.eye(3), ((axis + 1) % 3, (axis + 2) % 3)
        turn[first, first] = turn[other, other] = math.cos(angle)
        turn[first, other], turn[other, first] = -math.sin(angle), math.sin(angle)
        matrix = turn @ matrix
    return matrix, np.array([values.get(name, 0.0) for name in (b"deltax", b"deltay", b"deltaz")])
