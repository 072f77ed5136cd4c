"""The rows of the elements of a PLY file, as text and binary."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.readers.text import numbers
from backend.processing.scene import Floats, Indices, RefusedError


@dataclass(frozen=True)
class Property:
    """A property of an element; `count_kind` is the type of the length of a list."""

    name: str
    kind: str
    count_kind: str = ""


@dataclass(frozen=True)
class Element:
    """An element of the header."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list["Property"])

    @property
    def lists(self) -> list[Property]:
        """The properties that are lists."""
        return [property_ for property_ in self.properties if property_.count_kind]


@dataclass(frozen=True, eq=False)
class Rows:
    """The values of an element: columns by name, and lists as all their values and their lengths.

    Of equal names the last one counts.
    """

    columns: dict[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]])
    lists: dict[str, tuple[NDArray[Any], Indices]] = field(
        default_factory=dict[str, tuple[NDArray[Any], Indices]]
    )


class Body(Protocol):
    """The content after the header, addressed in places: numbers of a text, bytes of a binary."""

    length: int

    def size(self, kind: str) -> int:
        """Return how many places a value takes."""
        ...

    def count(self, kind: str, place: int, /) -> int:
        """Return the length of a list, which is stored at a place."""
        ...

    def uniform(self, place: int, element: Element, counts: Sequence[int]) -> Rows | None:
        """Return rows whose lists all have these lengths, None if a list has another length."""
        ...

    def gather(self, kind: str, places: Indices, /) -> NDArray[Any]:
        """Return the values at places."""
        ...


class Reader:
    """Reads the elements in their order in the file."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self.place = 0

    def rows(self, element: Element) -> Rows:
        """Return the rows of the next element."""
        if not element.count:
            none, no_lengths = np.zeros(0), np.zeros(0, np.int64)
            columns = {
                property_.name: none for property_ in element.properties if not property_.count_kind
            }
            return Rows(
                columns, {property_.name: (none, no_lengths) for property_ in element.lists}
            )
        plain = [property_ for property_ in element.properties if not property_.count_kind]
        held = element.count * sum(self._body.size(property_.kind) for property_ in plain)
        # Blender declared a list of the vertices and wrote none if a mesh had no faces.
        if element.lists and plain and held == self._body.length - self.place:
            element = replace(element, properties=plain)
        counts, width = self._first(element)
        if self.place + width * element.count <= self._body.length:
            rows = self._body.uniform(self.place, element, counts)
            if rows is not None:
                self.place += width * element.count
                return rows
        elif not element.lists:
            held = (self._body.length - self.place) // width
            raise RefusedError(
                f"truncated: {element.count} of {element.name} declared, {held} in the file"
            )
        return self._walk(element)

    def _first(self, element: Element) -> tuple[list[int], int]:
        """Return the lengths of the lists of the first row, and the places that it takes."""
        place, counts = self.place, list[int]()
        for property_ in element.properties:
            if property_.count_kind:
                count = self._count_list(element, property_, place)
                place += self._body.size(property_.count_kind) + count * self._body.size(
                    property_.kind
                )
                counts.append(count)
            else:
                place += self._body.size(property_.kind)
        return counts, place - self.place

    def _count_list(self, element: Element, listed: Property, place: int) -> int:
        if place + self._body.size(listed.count_kind) > self._body.length:
            raise RefusedError(f"truncated: an element {element.name} of the file is incomplete")
        count = self._body.count(listed.count_kind, place)
        if count < 0:
            raise RefusedError(f"a list of the element {element.name} has the length {count}")
        if place + count * self._body.size(listed.kind) > self._body.length:
            raise RefusedError(f"truncated: an element {element.name} of the file is incomplete")
        return count

    def _walk(self, element: Element) -> Rows:
        """Read rows one after the other, whose lists have different lengths."""
        body, place = self._body, self.place
        starts = [list[int]() for _ in element.properties]
        counts = [list[int]() for _ in element.properties]
        sizes = [
            (body.size(property_.kind), body.size(property_.count_kind))
            for property_ in element.properties
        ]
        for _ in range(element.count):
            for i, declared in enumerate(element.properties):
                size, head = sizes[i]
                if declared.count_kind:
                    count = self._count_list(element, declared, place)
                    place += head
                    counts[i].append(count)
                else:
                    count = 1
                starts[i].append(place)
                place += count * size
        if place > body.length:
            raise RefusedError(f"truncated: an element {element.name} of the file is incomplete")
        self.place = place
        rows = Rows()
        for i, declared in enumerate(element.properties):
            first = np.array(starts[i], np.int64)
            if declared.count_kind:
                lengths = np.array(counts[i], np.int64)
                total = int(lengths.sum())
                if total > 4 * limits.TRIANGLES:
                    fact = f"the lists of the PLY file have {total} values, which are too many"
                    raise RefusedError(fact)
                nth = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
                places = np.repeat(first, lengths) + nth * sizes[i][0]
                values = body.gather(declared.kind, places)
                rows.lists[declared.name] = (values, lengths)
            else:
                rows.columns[declared.name] = body.gather(declared.kind, first)
        return rows


class Text:
    """Numbers between spaces and line ends; what is not a number is NaN."""

    def __init__(self, data: bytes) -> None:
        self._numbers: Floats = numbers(data)
        self.length = len(self._numbers)
        self.is_sound = not np.isnan(self._numbers).any()

    def size(self, kind: str) -> int:
        return 1 if kind else 0

    def count(self, _kind: str, place: int) -> int:
        number = float(self._numbers[place])
        if not number.is_integer():
            raise RefusedError(f"the length of a list of the PLY file is {number:g}")
        return int(number)

    def uniform(self, place: int, element: Element, counts: Sequence[int]) -> Rows | None:
        lengths = iter(counts)
        width = len(element.properties) + sum(counts)
        rows = self._numbers[place : place + width * element.count].reshape(-1, width)
        read, column = Rows(), 0
        for prop in element.properties:
            if not prop.count_kind:
                read.columns[prop.name] = rows[:, column]
                column += 1
                continue
            count = next(lengths)
            if not (rows[:, column] == count).all():
                return None
            values = rows[:, column + 1 : column + 1 + count].reshape(-1)
            read.lists[prop.name] = (values, np.full(element.count, count))
            column += 1 + count
        return read

    def gather(self, _kind: str, places: Indices) -> NDArray[Any]:
        return self._numbers[places]


class Binary:
    """Values in the types of the header, with an order of bytes."""

    def __init__(self, data: memoryview, order: str) -> None:
        self._data = data
        self._order = order
        self.length = len(data)

    def size(self, kind: str) -> int:
        return int(kind[1:]) if kind else 0

    def count(self, kind: str, place: int) -> int:
        code = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I"}.get(kind)
        if code is None:
            raise RefusedError("the length of a list of the PLY file is not a whole number")
        return int(struct.unpack_from(self._order + code, self._data, place)[0])

    def uniform(self, place: int, element: Element, counts: Sequence[int]) -> Rows | None:
        fields, lengths = list[Any](), iter(counts)
        for i, declared in enumerate(element.properties):
            if declared.count_kind:
                fields.append((f"count{i}", self._order + declared.count_kind))
                fields.append((f"{i}", self._order + declared.kind, (next(lengths),)))
            else:
                fields.append((f"{i}", self._order + declared.kind))
        records = np.frombuffer(self._data, np.dtype(fields), element.count, place)
        read, lengths = Rows(), iter(counts)
        for i, declared in enumerate(element.properties):
            if not declared.count_kind:
                read.columns[declared.name] = records[f"{i}"]
                continue
            count = next(lengths)
            if not (records[f"count{i}"] == count).all():
                return None
            read.lists[declared.name] = (records[f"{i}"].reshape(-1), np.full(element.count, count))
        return read

    def gather(self, kind: str, places: Indices) -> NDArray[Any]:
        size = self.size(kind)
        single = np.frombuffer(self._data, np.uint8)
        raw = np.empty((len(places), size), np.uint8)
        for byte in range(size):
            raw[:, byte] = single[places + byte]
        return raw.reshape(-1).view(self._order + kind)
