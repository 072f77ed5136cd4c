"""Numbers and indices in texts that assimp reads: it takes what is no number for zero.

Only what a line or tag must hold is checked; importers refuse the rest.
"""

import math
import re
from collections.abc import Callable, Iterator
from itertools import islice

from backend.processing.readers.amf import with_placed_objects
from backend.processing.readers.iges_records import require_iges
from backend.processing.readers.soundness import line_at, no_number, number
from backend.processing.readers.text import utf8_lines
from backend.processing.readers.text_lines import (
    coordinate,
    require_ac,
    require_cob,
    require_md5,
    require_nff,
    require_off,
    require_raw,
    require_smd,
    require_uc,
    require_xgl,
    vertex_index,
)
from backend.processing.readers.text_lists import require_fbx
from backend.processing.readers.x3d import plain_x3d, require_x3d
from backend.processing.scene import RefusedError

_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def require_elements(extension: str, data: bytes) -> None:
    """Refuse a text with coordinates that are no numbers, or indices of no vertex.

    Raises:
        RefusedError: the line, and what is in it.
    """
    check = _CHECKS.get(extension)
    text = utf8_lines(data) if check is not None else b""
    if check is not None and b"\0" not in text[:4096]:
        check(text)


_ASE = re.compile(
    rb"\*MESH_(?:NUMVERTEX\s+(?P<size>\d+)|VERTEX\s+\d+(?P<vertex>[^\n]*)"
    rb"|FACE\s+\d+:(?P<face>[^\n*]*))"
)
_ASE_CORNER = re.compile(rb"\b[ABC]:\s*(\S+)")


def _ase(data: bytes) -> None:
    size = 0
    for found in _ASE.finditer(data):
        if found["size"] is not None:
            size = int(found["size"][:10])
        elif found["vertex"] is not None:
            for token in [*found["vertex"].split(), b"", b"", b""][:3]:
                coordinate(data, found.start(), token, finite=True)
        else:
            for token in _ASE_CORNER.findall(found["face"]):
                vertex_index(data, found.start(), token, size)


_ATTRIBUTES = re.compile(rb"\b([\w:]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
# Tags that do not have three numbers at their start, which nearly all have.
_ODD_TAG = re.compile(
    rb"<(?:\w+:)?(vertex|triangle)(?=[\s/>])(?!(?:\s+\w+\s*=\s*[\"']\s*"
    + _NUMBER
    + rb"\s*[\"']){3,}\s*/?>)([^>]*)>"
)
_WHOLE = re.compile(rb"\s*\d+\s*")
_TRANSFORM = re.compile(rb"\btransform\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def transform_of_3mf(text: bytes) -> list[float]:
    """Return the numbers of the attribute `transform`.

    Raises:
        RefusedError: it is not twelve numbers.
    """
    numbers = [found for each in text.split() if (found := number(each)) is not None]
    if not len(numbers) == len(text.split()) == 12:
        shown = text[:60].decode("utf-8", "replace")
        raise RefusedError(f"the transform '{shown}' is not twelve numbers")
    return numbers


def require_3mf_elements(data: bytes) -> None:
    """Check the vertices, triangles and transformations of a part of 3MF.

    Raises:
        RefusedError: the line, and what is in it.
    """
    for found in _TRANSFORM.finditer(data):
        transform_of_3mf(found[1] or found[2] or b"")
    for found in _ODD_TAG.finditer(data):
        pairs = {name: one or other for name, one, other in _ATTRIBUTES.findall(found[2])}
        is_vertex = found[1] == b"vertex"
        for name in (b"x", b"y", b"z") if is_vertex else (b"v1", b"v2", b"v3"):
            value = pairs.get(name, b"")
            if is_vertex:
                coordinate(data, found.start(), value.strip())
            elif not _WHOLE.fullmatch(value):
                raise no_number(line_at(data, found.start()), value)


_ODD_AMF = re.compile(
    rb"<(?:(?:(?:delta)?[xyz]|r[xyz])>(?!\s*" + _NUMBER + rb"\s*<)|v[123]>(?!\s*\d+\s*<))([^<]*)<"
)


def _amf(data: bytes) -> None:
    for found in _ODD_AMF.finditer(data):
        token = found[1].strip()
        if found[0][1:2] == b"v":
            raise no_number(line_at(data, found.start()), token)
        coordinate(data, found.start(), token)


# The tokens of these are numbers only; nearly all are numbers as regular expressions know them.
_ODD_FLOATS = re.compile(
    rb"<(?:\w+:)?(?:float_array|matrix|translate|rotate|scale|lookat)\b[^<>]*+(?<!/)>(?!(?:\s*+"
    + _NUMBER
    + rb"(?=[\s<]))*+\s*+<)([^<]*)<"
)

_ODD_INDICES = re.compile(rb"<(?:\w+:)?(?:p|v|vcount)>(?!(?:\s*+-?\d++(?=[\s<]))*+\s*+<)([^<]*)<")


def _dae(data: bytes) -> None:
    """Check arrays, indices and transformations of Collada.

    Assimp reads a number up to what follows it, and does not end after an index that is none.
    """
    for found in _ODD_INDICES.finditer(data) if b"COLLADA" in data[:4096] else ():
        for token in found[1].split():
            if not token.removeprefix(b"-").isdigit():
                raise no_number(line_at(data, found.start()), token)
    for found in _ODD_FLOATS.finditer(data) if b"COLLADA" in data[:4096] else ():
        for token in found[1].split():
            coordinate(data, found.start(), token.replace(b",", b"."))  # assimp reads both


_XML = ((b"<COLLADA", _dae), (b"<WORLD", require_xgl), (b"<X3D", require_x3d), (b"<amf", _amf))


def _xml(data: bytes) -> None:
    for root, check in _XML:
        if root in data[:4096]:
            check(data)


# A string or a comment, or a parameter that begins as a number or a name and is none.
_ODD_PARAMETER = re.compile(
    rb"'[^']*+(?:'|\Z)|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|[(,]\s*+(?!"
    + _NUMBER
    + rb"\s*[,)])([^\s'\"(),.#$*/;][^\s'(),/;]*+)(?=\s*[,)])"
)


_POINT = re.compile(
    rb"\b(?:CARTESIAN_POINT|DIRECTION)\s*+\(\s*+(?:'[^']*+'|[$*])\s*+,\s*+\(([^()]*+)\)"
)


def _step(data: bytes) -> None:
    """Check parameters of STEP: OpenCASCADE reads others as zero, or does not end."""
    for found in _ODD_PARAMETER.finditer(data):
        if found[1] is not None:
            token = found[1]
            read = token.upper().replace(b"D", b"E")  # exponents of Fortran
            if number(read) is None or not math.isfinite(number(read) or 0.0):
                raise no_number(line_at(data, found.start(1)), token)
    for found in _POINT.finditer(data):
        if found[1].count(b",") > 2:
            place, count = line_at(data, found.start()), found[1].count(b",") + 1
            raise RefusedError(
                f"{place}: a point has {count} coordinates: decimals are written with a point"
            )


_MESH = re.compile(rb"\bMesh(?:\s+[\w.-]+)?\s*\{")
_WORD = re.compile(rb"[^\s;,{}]+")
_COMMENTS = re.compile(rb"(?://|#)[^\n]*")


def _x(data: bytes) -> None:
    """Check the faces of meshes."""
    if b"txt" not in data[:16]:
        return
    text = _COMMENTS.sub(b"", data)
    for mesh in _MESH.finditer(text):
        words = _WORD.finditer(text, mesh.end())
        size = _counted(words)
        for _ in islice(words, 3 * size):
            pass
        for _ in range(_counted(words)):
            for found in islice(words, _counted(words)):
                # Of a face with a vertex that does not exist, assimp would keep a line.
                vertex_index(text, found.start(), found[0], size)


def _counted(words: Iterator[re.Match[bytes]]) -> int:
    """Return the next word as a count; 0 where there is none, which the importer refuses."""
    found = next(words, None)
    return int(found[0][:10]) if found is not None and found[0].isdigit() else 0


_CHECKS: dict[str, Callable[[bytes], None]] = {
    "ac": require_ac,
    "ac3d": require_ac,
    "acc": require_ac,
    "amf": _amf,
    "ase": _ase,
    "cob": require_cob,
    "dae": _dae,
    "fbx": require_fbx,
    "iges": require_iges,
    "md5anim": require_md5,
    "md5camera": require_md5,
    "md5mesh": require_md5,
    "nff": require_nff,
    "off": require_off,
    "raw": require_raw,
    "smd": require_smd,
    "step": _step,
    "uc": require_uc,
    "vta": require_smd,
    "x": _x,
    "x3d": require_x3d,
    "xgl": require_xgl,
    "xml": _xml,
}
_ROOT = re.compile(
    rb"(?:\s++|(?><\?.*?\?>)|(?><!--.*?-->)|(?><!DOCTYPE[^>\[]*+>))*+<([\w.-]+):\w", re.DOTALL
)


def without_prefix(data: bytes) -> bytes:
    """Return XML without the namespace prefix of its root, which assimp takes for names' part."""
    root = _ROOT.match(data[:4096])
    return re.sub(rb"(</?)" + re.escape(root[1]) + rb":", rb"\1", data) if root else data


_VECTORS = re.compile(rb">[^<>]*+<")


def with_plain_lists(data: bytes) -> bytes:
    """Return XML with the lists that assimp reads as the format defines them.

    XGL requires a comma between numbers, which assimp takes for a decimal comma.
    """
    start = data[:4096]
    if b"<X3D" in start:
        return plain_x3d(data)
    if b"<amf" in start:
        return with_placed_objects(data)
    if b"<WORLD" in start:
        return _VECTORS.sub(lambda found: found[0].replace(b",", b" ,"), data)
    return data


def off_rows(data: bytes) -> bytes:
    """Return a text OFF with a line for each vertex and face, which may share or span lines.

    Texts with a line for each are returned as they are: more than coordinates may be in them.
    """
    lines = [
        line for each in utf8_lines(data).split(b"\n") if (line := each.split(b"#", 1)[0].strip())
    ]
    head = b" ".join(lines[:2]).split()[:4]
    if len(head) < 4 or head[0] != b"OFF" or not all(each.isdigit() for each in head[1:]):
        return data
    vertices, faces = (int(each[:10]) for each in head[1:3])
    counts_at = 1 if len(lines[0].split()) > 1 else 2
    if len(lines) == counts_at + vertices + faces:
        return data
    tokens = b" ".join(lines).split()[4:]
    rows = [tokens[at : at + 3] for at in range(0, min(3 * vertices, len(tokens)), 3)]
    at = 3 * vertices
    while at < len(tokens) and tokens[at].isdigit():
        size = 1 + int(tokens[at][:10])
        rows.append(tokens[at : at + size])
        at += size
    if at != len(tokens) or len(rows) != vertices + faces:
        return data
    return b"\n".join([b"OFF", b" ".join(head[1:]), *(b" ".join(row) for row in rows), b""])
