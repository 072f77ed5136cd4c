"""PLY: meshes, point clouds and Gaussian splats; as text and binary."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.readers.polygons import fans
from backend.processing.readers.text import table
from backend.processing.scene import (
    Floats,
    Indices,
    Material,
    Part,
    RefusedError,
    Scene,
    UnsupportedError,
)

_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_HARMONIC = 0.28209479177387814  # the constant part of a splat's spherical harmonics
_Table = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class _Property:
    name: str
    kind: str
    count_kind: str = ""  # of a list


@dataclass(frozen=True)
class _Element:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list["_Property"])


def read(data: bytes) -> Scene:
    """Read a PLY file."""
    if not data.startswith(b"ply"):
        raise UnsupportedError("not a PLY file: it has no header")
    end = data.find(b"end_header", 0, limits.MIB)
    if end < 0:  # others take long to read such a header
        raise RefusedError("the header of the PLY file does not end within 1 MiB")
    order, elements, generator = _header(data[:end].decode("ascii", "replace"))
    start = data.index(b"\n", end) + 1 if b"\n" in data[end : end + 20] else len(data)
    body = _Text(data[start:]) if order == "" else _Binary(data, start, order)
    vertices: _Table = {}
    faces: Indices = np.zeros((0, 3), np.int64)
    for element in elements:
        if element.name == "vertex":
            vertices = body.table(element)
        elif element.name == "face":
            faces = body.faces(element)
        elif any(each.count_kind for each in element.properties):
            raise UnsupportedError(f"the element {element.name} of a PLY file is not supported")
        else:
            body.table(element)
    return _scene(vertices, faces, generator)


def _header(text: str) -> tuple[str, list[_Element], str]:
    order, elements, generator = "?", list[_Element](), ""
    for line in text.splitlines()[1:]:
        match line.split():
            case ["format", name, *_]:
                order = _ORDERS.get(name, "?")
            case ["comment" | "obj_info", *words]:
                generator = generator or " ".join(words)
            case ["element", name, count] if count.isdecimal():
                elements.append(_Element(name, int(count)))
            case ["property", "list", counted, kind, name] if elements:
                elements[-1].properties.append(_Property(name, _type(kind), _type(counted)))
            case ["property", kind, name] if elements:
                elements[-1].properties.append(_Property(name, _type(kind)))
            case _:
                pass
    if order == "?":
        raise RefusedError("the PLY header names no known format")
    for element in elements:
        if element.count > limits.TRIANGLES:
            raise RefusedError(f"the PLY header declares {element.count} of {element.name:.40}")
    return order, elements, generator[:200]


def _type(name: str) -> str:
    if name not in _TYPES:
        raise RefusedError(f"the PLY header has an unknown type: {name:.40}")
    return _TYPES[name]


def _list_of(element: _Element) -> int:
    """Return the place of the list of corners among the properties of a face."""
    names = ("vertex_indices", "vertex_index")
    for place, each in enumerate(element.properties):
        if each.name in names and each.count_kind:
            return place
    raise UnsupportedError("the faces of the PLY file have no vertex indices")


class _Text:
    def __init__(self, data: bytes) -> None:
        self._lines = [line for line in data.splitlines() if line.strip()]
        self._next = 0

    def _take(self, element: _Element) -> list[bytes]:
        lines = self._lines[self._next : self._next + element.count]
        if len(lines) < element.count:
            raise RefusedError(
                f"truncated: {element.count} of {element.name} declared, {len(lines)} in the file"
            )
        self._next += element.count
        return lines

    def table(self, element: _Element) -> _Table:
        rows = table(self._take(element), (max(len(element.properties), 1),))
        return {each.name: rows[:, i] for i, each in enumerate(element.properties)}

    def faces(self, element: _Element) -> Indices:
        place = _list_of(element)
        if any(each.count_kind for each in element.properties[:place]):
            raise UnsupportedError("faces of a PLY file with several lists are not supported")
        tokens = [line.split()[place:] for line in self._take(element)]
        try:
            counts = np.array([int(row[0]) for row in tokens], np.int64)
            corners = [row[1 : n + 1] for row, n in zip(tokens, counts.tolist(), strict=True)]
            flat = np.array([float(each) for row in corners for each in row]).astype(np.int64)
        except (ValueError, IndexError):
            raise RefusedError("a face of the PLY file is not valid") from None
        if len(flat) != int(counts.sum()):
            raise RefusedError("truncated: a face of the PLY file has too few corners")
        return fans(flat, counts)


class _Binary:
    def __init__(self, data: bytes, position: int, order: str) -> None:
        self._data = data
        self._position = position
        self._order = order

    def table(self, element: _Element) -> _Table:
        fields = [(f"{i}", self._order + each.kind) for i, each in enumerate(element.properties)]
        rows = self._records(np.dtype(fields), element)
        return {each.name: rows[f"{i}"] for i, each in enumerate(element.properties)}

    def _records(self, kind: np.dtype[Any], element: _Element) -> NDArray[Any]:
        end = self._position + kind.itemsize * element.count
        if end > len(self._data):
            held = (len(self._data) - self._position) // max(kind.itemsize, 1)
            raise RefusedError(
                f"truncated: {element.count} of {element.name} declared, {held} in the file"
            )
        records = np.frombuffer(self._data, kind, element.count, self._position)
        self._position = end
        return records

    def faces(self, element: _Element) -> Indices:
        place = _list_of(element)
        if sum(bool(each.count_kind) for each in element.properties) > 1:
            raise UnsupportedError("faces of a PLY file with several lists are not supported")
        if not element.count:
            return np.zeros((0, 3), np.int64)
        start = self._position
        for corners in (3, 4):
            records = self._uniform(element, place, corners)
            if records is not None:
                return fans(records.reshape(-1), np.full(element.count, corners))
            self._position = start
        return self._mixed(element, place)

    def _uniform(self, element: _Element, place: int, corners: int) -> Indices | None:
        """Return the corners of all faces, if each has the same number; the usual case."""
        fields: list[Any] = []
        for i, each in enumerate(element.properties):
            if i == place:
                fields.append(("count", self._order + each.count_kind))
                fields.append(("corners", self._order + each.kind, (corners,)))
            else:
                fields.append((f"{i}", self._order + each.kind))
        kind = np.dtype(fields)
        if self._position + kind.itemsize * element.count > len(self._data):
            return None
        records = self._records(kind, element)
        if not (records["count"] == corners).all():
            return None
        return records["corners"].astype(np.int64)

    def _mixed(self, element: _Element, place: int) -> Indices:
        listed = element.properties[place]
        count_kind = np.dtype(self._order + listed.count_kind)
        kind = np.dtype(self._order + listed.kind)
        sizes = [np.dtype(each.kind).itemsize for each in element.properties]
        before, after = sum(sizes[:place]), sum(sizes[place + 1 :])
        data, position = self._data, self._position
        counts, rows = list[int](), list[NDArray[Any]]()
        try:
            for _ in range(element.count):
                position += before
                count = int(np.frombuffer(data, count_kind, 1, position)[0])
                position += count_kind.itemsize
                rows.append(np.frombuffer(data, kind, count, position))
                counts.append(count)
                position += count * kind.itemsize + after
        except ValueError:
            raise RefusedError("truncated: a face of the PLY file is incomplete") from None
        self._position = position
        return fans(np.concatenate(rows).astype(np.int64), np.array(counts))


def _columns(vertices: _Table, *names: tuple[str, ...]) -> Floats | None:
    """Return columns by the first set of names that the vertices have."""
    for each in names:
        if all(name in vertices for name in each):
            return np.stack([vertices[name].astype(np.float64) for name in each], 1)
    return None


def _colors(vertices: _Table) -> Floats | None:
    splats = _columns(vertices, ("f_dc_0", "f_dc_1", "f_dc_2"))
    if splats is not None:
        return np.hstack([np.clip(0.5 + _HARMONIC * splats, 0, 1), np.ones((len(splats), 1))])
    names = ("red", "green", "blue")
    diffuse = ("diffuse_red", "diffuse_green", "diffuse_blue")
    colors = _columns(vertices, (*names, "alpha"), names, diffuse, ("r", "g", "b"))
    if colors is None:
        return None
    kind = next(vertices[name].dtype for name in ("red", "diffuse_red", "r") if name in vertices)
    full = np.iinfo(kind).max if kind.kind in "iu" else (255.0 if colors.max(initial=0) > 1 else 1)
    alpha = np.ones((len(colors), 4 - colors.shape[1]))
    return np.hstack([colors / full, alpha])


def _scene(vertices: _Table, faces: Indices, generator: str) -> Scene:
    positions = _columns(vertices, ("x", "y", "z"))
    if positions is None or not len(positions):
        raise RefusedError("contains no geometry")
    count = len(positions)
    triangles = faces[((faces >= 0) & (faces < count)).all(1)]
    uv = _columns(vertices, ("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
    if uv is not None:
        uv[:, 1] = 1 - uv[:, 1]
    part = Part(
        positions,
        triangles if len(triangles) else None,
        points=None if len(triangles) else np.arange(count),
        normals=_columns(vertices, ("nx", "ny", "nz")),
        uv=uv,
        colors=_colors(vertices),
    )
    return Scene("PLY", [part], [Material()], meshes=1, generator=generator)
