"""Wavefront OBJ with its material libraries."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.mtl import read_materials
from backend.processing.readers.polygons import triangle_order
from backend.processing.readers.soundness import finite_rows, left_out_text, no_number, unusable
from backend.processing.readers.text import array_of, compose, coordinates, table, utf8_lines
from backend.processing.scene import (
    Floats,
    Indices,
    Material,
    Part,
    RefusedError,
    Scene,
    UnsupportedError,
)

_NEXT_LIBRARY = re.compile(r"(?<=\.mtl)\s+", re.IGNORECASE)
_NUL = re.compile(rb"(?m)^(?![ \t]*#)[^\n]*\0")
# Keywords of OBJ that are ignored.
_OTHERS = frozenset(
    {b"s", b"mg", b"call", b"csh", b"end", b"bevel", b"lod", b"maplib", b"usemap"}
    | {b"shadow_obj", b"trace_obj", b"c_interp", b"d_interp", b"deg", b"bmat", b"step"}
    | {b"curv", b"curv2", b"surf", b"vp", b"cstype", b"parm", b"trim", b"hole", b"scrv", b"sp"}
    | {b"con", b"ctech", b"stech"}
)
_CURVES = (b"curv", b"surf", b"vp", b"cstype")


@dataclass
class _Group:
    """The elements of one material, as the lines of the file."""

    faces: list[bytes] = field(default_factory=list[bytes])
    lines: list[bytes] = field(default_factory=list[bytes])
    points: list[bytes] = field(default_factory=list[bytes])


@dataclass
class _Lines:
    """The lines of a file by their kind."""

    positions: list[bytes] = field(default_factory=list[bytes])
    uv: list[bytes] = field(default_factory=list[bytes])
    normals: list[bytes] = field(default_factory=list[bytes])
    groups: dict[bytes, _Group] = field(default_factory=dict[bytes, _Group])
    libraries: list[str] = field(default_factory=list[str])
    objects: int = 0
    curves: bool = False
    unknown: bytes = b""
    material: bytes = b""

    def take(self, key: bytes, rest: bytes) -> None:
        """Add one line to the elements of its kind."""
        match key:
            case b"v":
                self.positions.append(rest)
            case b"vt":
                self.uv.append(rest)
            case b"vn":
                self.normals.append(rest)
            case b"f" | b"l" | b"p":
                self._element(key, rest)
            case b"usemtl":
                self.material = rest.strip()
            case b"mtllib":
                # Names may contain spaces, so one ends with its extension.
                names = _NEXT_LIBRARY.split(rest.strip().decode("utf-8", "surrogateescape"))
                self.libraries += [name for name in names if name]
            case b"o" | b"g":
                self.objects += 1
            case _:
                self.curves = self.curves or key in _CURVES
                if key and not key.startswith(b"#") and key not in _OTHERS:
                    self.unknown = self.unknown or key

    def _element(self, key: bytes, rest: bytes) -> None:
        if b"-" in rest:
            counts = (len(self.positions), len(self.uv), len(self.normals))
            corners: list[bytes] = []
            for token in rest.split():
                indices = [
                    b"%d" % (count + 1 + _index(index)) if index.startswith(b"-") else index
                    for index, count in zip(token.split(b"/"), counts, strict=False)
                ]
                corners.append(b"/".join(indices))
            rest = b" ".join(corners)
        group = self.groups.setdefault(self.material, _Group())
        {b"f": group.faces, b"l": group.lines, b"p": group.points}[key].append(rest)


def read(data: bytes, files: Files) -> Scene:
    """Read an OBJ file."""
    data = utf8_lines(data).rstrip(b"\0")  # some programs fill the last block of a file
    if b"\0" in data and _NUL.search(data):
        raise RefusedError("contains NUL bytes outside of comments, where no text has them")
    lines = _sort_lines(data)
    if lines.curves and not lines.groups:
        raise UnsupportedError("has curves and surfaces only, which no reader supports")
    if not lines.positions:
        raise UnsupportedError("contains no geometry")
    if max(map(len, (lines.positions, lines.uv, lines.normals))) > limits.VERTICES:
        raise RefusedError(f"more than {limits.VERTICES} vertices")
    vertices = _Vertices(lines, data)
    materials = [Material(declared=False)]
    known = {b"": 0}
    for name, material in read_materials(lines.libraries, files).items():
        known[name] = len(materials)
        known.setdefault(compose(name), len(materials))
        materials.append(material)
    parts = list[Part]()
    for name, group in lines.groups.items():
        if name not in known and compose(name) not in known:  # its library is missing
            known[name] = len(materials)
            materials.append(Material(name.decode("utf-8", "replace")[:200]))
        parts += vertices.parts(name, group, known.get(name, known.get(compose(name), 0)))
    if not lines.groups:
        parts = [vertices.cloud()]
        if lines.unknown:
            word = lines.unknown[:40].decode("utf-8", "replace")
            place = _place(data, lines.unknown, 0)
            vertices.left_out.append(f"no faces; '{word}' is not known ({place})")
    generator = data[:200].split(b"\n")[0] if data.startswith(b"#") else b""
    return Scene(
        "OBJ",
        parts,
        materials,
        meshes=max(len(lines.groups), lines.objects, 1),
        generator=generator.decode("utf-8", "replace").strip("# \r\t"),
        ends_within_line=not data.endswith(b"\n"),
        left_out=tuple(vertices.left_out),
    )


def _sort_lines(data: bytes) -> _Lines:
    lines, nth = _Lines(), 0
    try:
        for nth, line in enumerate(data.replace(b"\\\n", b" ").splitlines()):  # noqa: B007
            lines.take(*_key_and_rest(line))
    except ValueError:
        number, line = next(islice(_number_lines(data), nth, None))
        raise no_number(f"line {number}", _key_and_rest(line)[1]) from None
    return lines


def _key_and_rest(line: bytes) -> tuple[bytes, bytes]:
    key, _, rest = line.strip().replace(b"\t", b" ").partition(b" ")
    return key, rest


def _number_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers; those that are continued as one line."""
    held, start = b"", 1
    for number, line in enumerate(data.splitlines(), 1):
        start = start if held else number
        if line.endswith(b"\\"):
            held += line[:-1] + b" "
        else:
            yield start, held + line
            held = b""


def _place(data: bytes, wanted: bytes, nth: int, material: bytes | None = None) -> str:
    """Return where the nth line of a kind is, among those of one material."""
    current = b""
    for number, line in _number_lines(data):
        key, rest = _key_and_rest(line)
        if key == b"usemtl":
            current = rest.strip()
        elif key == wanted and material in {None, current}:
            if not nth:
                return f"line {number}"
            nth -= 1
    return "its end"


def _corners(elements: list[bytes], place: Callable[[int], str]) -> tuple[Indices, Indices]:
    """Return the corners of all elements as rows of three indices, and their counts."""
    tokens = [line.partition(b"#")[0].split() for line in elements]
    counts = np.array([len(corners) for corners in tokens], np.int64)
    flat = [token for corners in tokens for token in corners]
    try:
        return _uniform(flat), counts
    except (ValueError, OverflowError):
        pass
    rows: list[list[int]] = []
    for nth, words in enumerate(tokens):
        try:
            for word in words:
                indices = [_index(index) if index else 0 for index in word.split(b"/")[:3]]
                rows.append(np.array(indices + [0] * (3 - len(indices)), np.int64).tolist())
        except (ValueError, OverflowError):
            raise no_number(place(nth), b" ".join(words)) from None
    return np.array(rows, np.int64).reshape(-1, 3), counts


def _uniform(tokens: list[bytes]) -> Indices:
    """Parse the usual case: all corners have the same indices.

    Raises:
        ValueError: they have different indices.
    """
    first = tokens[0] if tokens else b""
    text = b" ".join(tokens)
    rows = np.zeros((len(tokens), 3), np.int64)
    if b"/" not in text:
        places = [0]
    elif b"//" in first:
        places, text = [0, 2], text.replace(b"//", b" ")
    else:
        places = [0, 1, 2][: first.count(b"/") + 1]
        text = text.replace(b"/", b" ")
    # A part of the tokens with more, and as many with fewer indices would have the same sum.
    if len({token.count(b"/") for token in tokens}) > 1 or b"/" in text:
        raise ValueError("corners differ")
    rows[:, places] = array_of(text, np.int64).reshape(len(tokens), len(places))
    return rows


def _index(digits: bytes) -> int:
    if b"_" in digits:
        raise ValueError("Python reads 1_0 as 10")
    return int(digits[:18])  # they fit an integer of numpy, and no file has as many vertices


class _Vertices:
    def __init__(self, lines: _Lines, data: bytes) -> None:
        self.left_out: list[str] = []
        self._data = data
        rows = coordinates(lines.positions, (3, 4, 6, 7), lambda nth: _place(data, b"v", nth))
        self._positions = rows[:, :3]
        self._finite = finite_rows(self._positions)
        if not self._finite.all():
            first = _place(data, b"v", int(self._finite.argmin()))
            fact = f"{int((~self._finite).sum())} of {len(rows)} vertices are not finite"
            self.left_out.append(f"{fact} (first: {first})")
        colored = rows.shape[1] >= 6
        self._colors = np.hstack([rows[:, 3:6], np.ones((len(rows), 1))]) if colored else None
        self._uv = table(lines.uv, (2, 3))[:, :2]
        self._normals = table(lines.normals, (3,))

    def _whole(
        self, name: bytes, key: bytes, elements: list[bytes], fewest: int
    ) -> tuple[Indices, Indices]:
        """Return the corners and counts of elements whose vertices all exist."""

        def place(nth: int) -> str:
            return _place(self._data, key, nth, name)

        corners, counts = _corners(elements, place)
        wrong = unusable(corners[:, 0] - 1, counts, self._finite, fewest)
        what = {b"f": "faces", b"l": "lines", b"p": "point elements"}[key]
        self.left_out += left_out_text(wrong, what, place, finite=bool(self._finite.all()))
        return corners[~np.repeat(wrong, counts)], counts[~wrong]

    def parts(self, name: bytes, group: _Group, material: int) -> Iterator[Part]:
        """Return the triangles, lines and points of one material."""
        if group.faces:
            corners, counts = self._whole(name, b"f", group.faces, 3)
            order = triangle_order(corners[:, 0] - 1, counts, self._positions)
            yield from self._part(corners, order, "triangles", material)
        if group.lines:
            corners, counts = self._whole(name, b"l", group.lines, 2)
            starts = np.arange(len(corners))
            last = np.cumsum(counts) - 1
            chosen = np.setdiff1d(starts, last)
            yield from self._part(corners, np.stack([chosen, chosen + 1], 1), "lines", material)
        if group.points:
            corners, _ = self._whole(name, b"p", group.points, 1)
            yield from self._part(corners, np.arange(len(corners))[:, None], "points", material)

    def cloud(self) -> Part:
        """Return all vertices as points, for a file without elements."""
        return Part(self._positions, points=np.arange(len(self._positions)), colors=self._colors)

    def _part(
        self, corners: Indices, elements: Indices, kind: str, material: int
    ) -> Iterator[Part]:
        """Return a part whose vertices are distinct corners: position, coordinates and normal."""
        if not len(elements):
            return
        used, places = np.unique(elements, return_inverse=True)
        corners, elements = corners[used], places.reshape(elements.shape)
        uv, normals = (
            self._usable(corners[:, 1], self._uv),
            self._usable(corners[:, 2], self._normals),
        )
        key = corners[:, 0]
        for index, length in ((uv, len(self._uv)), (normals, len(self._normals))):
            if index is not None:
                key = np.unique(key, return_inverse=True)[1] * (length + 1) + index
        _, first, same = np.unique(key, return_index=True, return_inverse=True)
        elements, chosen = same[elements], corners[first, 0] - 1
        yield Part(
            self._positions[chosen],
            triangles=elements if kind == "triangles" else None,
            lines=elements if kind == "lines" else None,
            points=elements[:, 0] if kind == "points" else None,
            normals=None if normals is None else self._normals[normals[first]],
            uv=None if uv is None else self._uv[uv[first]] * [1, -1] + [0, 1],
            colors=None if self._colors is None else self._colors[chosen],
            material=material,
        )

    def _usable(self, indices: Indices, values: Floats) -> Indices | None:
        """Return the indices of an attribute from 0, if every corner has a valid one."""
        if not len(indices) or int(indices.min()) < 1 or int(indices.max()) > len(values):
            return None
        return indices - 1
