"""PLY: meshes, point clouds and Gaussian splats; as text and binary."""

import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.processing import limits
from backend.processing.files import Files
from backend.processing.readers.ply_body import Binary, Element, Property, Reader, Rows, Text
from backend.processing.readers.polygons import triangle_order
from backend.processing.readers.soundness import (
    finite_rows,
    left_out_text,
    line_at,
    no_number,
    number,
    unusable,
)
from backend.processing.readers.splats import colors_of_harmonics, splat_scene, unpack_ply
from backend.processing.readers.text import BYTE_ORDER_MARK, require_text, utf8_lines
from backend.processing.scene import (
    Floats,
    Indices,
    Material,
    Part,
    RefusedError,
    Scene,
    UnsupportedError,
)
from backend.processing.texts import without_surrogates

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
_WORD = re.compile(rb"\S+")
_Columns = dict[str, NDArray[Any]]


@dataclass
class _Header:
    order: str = "?"
    elements: list[Element] = field(default_factory=list[Element])
    generator: str = ""
    texture: str = ""


def read(data: bytes, files: Files) -> Scene:
    """Read a PLY file."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    if not data.startswith(b"ply"):
        raise UnsupportedError("not a PLY file: it has no header")
    end = data.find(b"end_header", 0, limits.MIB)
    if end < 0 and len(data) < limits.MIB:
        raise RefusedError("truncated: the header of the PLY file does not end")
    if end < 0:  # others take long to read such a header
        raise RefusedError("the header of the PLY file does not end within 1 MiB")
    header = _header(data[:end].decode("utf-8", "surrogateescape"))
    if not header.order:
        require_text(data, "these PLY")
    content = memoryview(data)[_start(data, end) :]  # a copy would take as much memory again
    body = Binary(content, header.order) if header.order else Text(bytes(content))
    reader = Reader(body)
    read_rows: dict[str, Rows] = {}
    for element in header.elements:
        read_rows[element.name] = reader.rows(element)
    if isinstance(body, Text) and not body.is_sound:
        _require_numbers(data, len(data) - len(content), reader.place)
    rest = content[reader.place :] if header.order else content[:0]
    more = len(bytes(rest).strip(b"\0 \r\n")) and len(rest)
    more = more if header.order else body.length - reader.place
    beyond = f"{more} {'bytes' if header.order else 'numbers'} after the last element"
    if more and not any(element.count for element in header.elements):
        raise RefusedError(f"the PLY header declares no elements; the file has {beyond}")
    scene = _scene(read_rows, header, files)
    return replace(scene, left_out=(*scene.left_out, beyond)) if more else scene


def _require_numbers(data: bytes, start: int, count: int) -> None:
    """Require that the first `count` words after the header are numbers."""
    for word in islice(_WORD.finditer(data, start), count):
        if number(word[0]) is None:
            raise no_number(line_at(utf8_lines(data[: word.start()]), len(data)), word[0])


def _start(data: bytes, end: int) -> int:
    """Return where the content starts: after the header, whose lines all end as its first one."""
    first = data[3:5].lstrip(b" ")
    line_end = next((mark for mark in (b"\r\n", b"\n", b"\r") if first.startswith(mark)), b"\n")
    at = data.find(line_end, end, end + 200)
    return len(data) if at < 0 else at + len(line_end)


def _header(text: str) -> _Header:
    header = _Header()
    for line in text.splitlines()[1:]:
        match line.split():
            case ["format", name, *_]:
                if header.order != "?":
                    raise RefusedError("the PLY header has the line format twice")
                header.order = _ORDERS.get(name, "?")
            case ["comment", "TextureFile", *words]:
                header.texture = header.texture or " ".join(words)
            case ["comment" | "obj_info", *words]:
                header.generator = header.generator or " ".join(words)
            case ["element", name, count] if count.isdecimal():
                header.elements.append(Element(name, int(count[:18])))  # beyond all limits
            case ["property", "list", counted, kind, name] if header.elements:
                listed = Property(name, _type(kind), _type(counted))
                header.elements[-1].properties.append(listed)
            case ["property", kind, name] if header.elements:
                header.elements[-1].properties.append(Property(name, _type(kind)))
            case _:
                pass
    if header.order == "?":
        raise RefusedError("the PLY header names no known format")
    _require_sound(header.elements)
    header.generator = without_surrogates(header.generator[:200])
    return header


def _require_sound(elements: list[Element]) -> None:
    names = [element.name for element in elements]
    for element in elements:
        if element.count > limits.TRIANGLES:
            raise RefusedError(
                f"the PLY header declares {element.count} elements '{element.name:.40}', more than "
                f"{limits.TRIANGLES}"
            )
        if names.count(element.name) > 1:
            raise RefusedError(f"the PLY header declares the element {element.name:.40} twice")
        if element.count and not element.properties:
            raise RefusedError(f"the element {element.name:.40} has no properties")


def _type(name: str) -> str:
    if name not in _TYPES:
        raise RefusedError(f"the PLY header has an unknown type: {name:.40}")
    return _TYPES[name]


def _corners(rows: Rows | None) -> tuple[Indices, Indices]:
    """Return the corners of all faces or strips in a row, and how many each has."""
    if rows is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    for name in ("vertex_indices", "vertex_index"):
        if name in rows.lists:
            values, counts = rows.lists[name]
            return _whole(values), counts
    raise UnsupportedError("the faces of the PLY file have no vertex indices")


def _whole(values: NDArray[Any]) -> Indices:
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    if not np.isfinite(values).all():
        raise RefusedError("a face of the PLY file is not valid")
    return np.clip(values, -1, 1 << 40).astype(np.int64)


def _of_strips(corners: Indices, counts: Indices, size: int) -> Indices:
    """Return the triangles of strips. An index of no vertex (mostly -1) begins a new one."""
    # A place without a vertex also between strips.
    row = np.insert(np.where(corners < size, corners, -1), np.cumsum(counts), -1)
    place = np.arange(len(row))
    since = place - np.maximum.accumulate(np.where(row < 0, place, -1)) - 1
    first = place[:-2][(row[:-2] >= 0) & (row[1:-1] >= 0) & (row[2:] >= 0)]
    triangles = np.stack([row[first], row[first + 1], row[first + 2]], 1)
    odd = since[first] % 2 == 1  # every other triangle of a strip has the other winding
    triangles[odd] = triangles[odd][:, [1, 0, 2]]
    return triangles


def _columns_named(vertices: _Columns, *names: tuple[str, ...]) -> Floats | None:
    """Return columns by the first set of names that the vertices have."""
    for columns in names:
        if all(name in vertices for name in columns):
            return np.stack([vertices[name].astype(np.float64) for name in columns], 1)
    return None


def _colors(vertices: _Columns) -> Floats | None:
    names = ("red", "green", "blue")
    diffuse = ("diffuse_red", "diffuse_green", "diffuse_blue")
    colors = _columns_named(vertices, (*names, "alpha"), names, diffuse, ("r", "g", "b"))
    if colors is None:
        return None
    kind = next(vertices[name].dtype for name in ("red", "diffuse_red", "r") if name in vertices)
    full = np.iinfo(kind).max if kind.kind in "iu" else (255.0 if colors.max(initial=0) > 1 else 1)
    alpha = np.ones((len(colors), 4 - colors.shape[1]))
    return np.hstack([colors / full, alpha])


def _scene(rows: dict[str, Rows], header: _Header, files: Files) -> Scene:
    vertices = rows.get("vertex", Rows()).columns
    if "packed_position" in vertices:
        packed = unpack_ply(rows.get("chunk", Rows()).columns, vertices)
        return splat_scene("PLY", *packed, generator=header.generator)
    positions = _columns_named(vertices, ("x", "y", "z"))
    if positions is None or not len(positions):
        raise RefusedError("contains no geometry")
    count = len(positions)
    harmonics = _columns_named(vertices, ("f_dc_0", "f_dc_1", "f_dc_2"))
    if harmonics is not None and "opacity" in vertices:
        with np.errstate(all="ignore"):
            opacity = 1 / (1 + np.exp(-vertices["opacity"].astype(np.float64)))
        colors = colors_of_harmonics(harmonics)
        return splat_scene("PLY", positions, colors, opacity, generator=header.generator)
    corners, counts = _corners(rows.get("face"))
    finite = finite_rows(positions)
    wrong = unusable(corners, counts, finite, 3)
    whole = bool(finite.all())
    said = left_out_text(wrong, "faces", lambda nth: f"face {nth + 1}", finite=whole)
    kept = np.flatnonzero(~np.repeat(wrong, counts))
    places = kept[triangle_order(corners[kept], counts[~wrong], positions)]
    faces = corners[places]
    stripped = _corners(rows.get("tristrips"))
    if wrong_corners := int((stripped[0] >= count).sum()):
        said.append(f"{wrong_corners} corners of strips are vertices that do not exist")
    strips = _of_strips(*stripped, count)
    triangles = np.concatenate([faces, strips])
    uv = _columns_named(vertices, ("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
    part = Part(
        positions,
        triangles if len(triangles) else None,
        points=None if len(triangles) else np.arange(count),
        normals=_columns_named(vertices, ("nx", "ny", "nz")),
        uv=None if uv is None else _from_above(uv),
        colors=_colors(vertices),
    )
    at_corners = rows["face"].lists.get("texcoord") if len(corners) else None
    if at_corners is not None and not len(strips) and (at_corners[1] == 2 * counts).all():
        uv = _from_above(at_corners[0].astype(np.float64).reshape(-1, 2))
        part = _with_own_corners(part, faces, uv[places])
    texture = files.read(header.texture, "texture") if header.texture else None
    color = (1.0, 1.0, 1.0, 1.0) if texture else Material().color
    materials = [Material(color=color, texture=texture, declared=texture is not None)]
    generator = header.generator
    return Scene("PLY", [part], materials, 1, generator, left_out=tuple(said))


def _from_above(uv: Floats) -> Floats:
    """Return texture coordinates with their origin at the top left."""
    turned = uv.copy()
    turned[:, 1] = 1 - uv[:, 1]
    return turned


def _with_own_corners(part: Part, triangles: Indices, uv: Floats) -> Part:
    """Return the part with texture coordinates of corners: a vertex for each different one."""
    used = np.column_stack([triangles.reshape(-1).astype(np.float64), uv.reshape(-1, 2)])
    unique, places = np.unique(used, axis=0, return_inverse=True)
    chosen = unique[:, 0].astype(np.int64)
    return Part(
        part.positions[chosen],
        places.reshape(-1, 3),
        normals=None if part.normals is None else part.normals[chosen],
        uv=unique[:, 1:],
        colors=None if part.colors is None else part.colors[chosen],
    )
