"""Numbers in texts of which assimp takes a line without them for a shorter or another one."""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from backend.processing.readers.soundness import line_at, no_number, number
from backend.processing.scene import RefusedError


class Line(NamedTuple):
    """A line that is not blank: its place, and its tokens before a comment."""

    at: int
    tokens: list[bytes]


def lines(data: bytes, comment: bytes = b"#", start: int = 0) -> Iterator[Line]:
    """Return the lines of a text from an offset on."""
    at = start
    for line in data[start:].split(b"\n"):
        tokens = line.split(comment, 1)[0].split()
        if tokens:
            yield Line(at, tokens)
        at += len(line) + 1


def coordinate(data: bytes, at: int, token: bytes, *, finite: bool = False) -> None:
    """Require a number; a `finite` one where the importer takes others for zero."""
    found = number(token)
    if found is None or (finite and not math.isfinite(found)):
        raise no_number(line_at(data, at), token)


def vertex_index(data: bytes, at: int, token: bytes, size: int) -> None:
    if not token.isdigit() or int(token[:10]) >= size:
        name = token[:20].decode("utf-8", "replace")
        raise RefusedError(f"{line_at(data, at)}: vertex {name} does not exist, there are {size}")


def _require_numbers(data: bytes, at: int, tokens: list[bytes], fewest: int, what: str) -> None:
    """Require a line's first tokens to be numbers, with a decimal point or comma."""
    for token in tokens[:fewest]:
        if number(token.replace(b",", b".")) is None:  # assimp reads both
            raise no_number(line_at(data, at), token)
    if len(tokens) < fewest:
        raise RefusedError(f"{line_at(data, at)}: {what} has {len(tokens)} of {fewest} numbers")


def require_smd(data: bytes) -> None:
    """Check places of bones and vertices in the models of Valve's engines."""
    section, nth = b"", 0
    for at, tokens in lines(data, b"//"):
        if tokens[0].lower() in {b"nodes", b"skeleton", b"triangles", b"vertexanimation", b"end"}:
            section, nth = tokens[0].lower(), 0
            continue
        if section == b"triangles":
            if nth % 4:  # after the name of a material
                _require_numbers(data, at, tokens, 9, "a vertex")
            nth += 1
        elif section in {b"skeleton", b"vertexanimation"} and tokens[0] != b"time":
            _require_numbers(data, at, tokens, 7, "a place")


_MD5_SECTION = re.compile(rb"^\s*(\w+)[^{\n\"]*\{")
_MD5_QUOTED = re.compile(rb"\"[^\"\n]*\"|//[^\n]*|[()]")
# Numbers after the keyword: index, u, v, first weight and weights; index and corners; index, joint,
# weight and place.
_MD5_LINES = {b"vert": 5, b"tri": 4, b"weight": 6}
_MD5_NUMBERS = frozenset({b"joints", b"hierarchy", b"bounds", b"baseframe", b"frame", b"camera"})


def require_md5(data: bytes) -> None:
    """Check lines of numbers in the models of Doom 3."""
    section, at = b"", 0
    for line in data.split(b"\n"):
        start, at = at, at + len(line) + 1
        if head := _MD5_SECTION.match(line):
            section = head[1]
            continue
        tokens = _MD5_QUOTED.sub(b" ", line).split()
        if not tokens or tokens[0].startswith(b"}"):
            continue
        if section == b"mesh" and tokens[0] in _MD5_LINES:
            name = tokens[0].decode()
            _require_numbers(data, start, tokens[1:], _MD5_LINES[tokens[0]], f"'{name}'")
        elif section in _MD5_NUMBERS:
            _require_numbers(data, start, tokens, len(tokens), "the line")


_NFF_SOLIDS = frozenset({b"s", b"hex", b"tet", b"oct", b"dod"})


def require_nff(data: bytes) -> None:
    """Check places and sizes in a Neutral File Format."""
    if data.lstrip()[:3].lower() == b"nff":
        _require_sense8(data)
        return
    corners, width = 0, 0
    for at, tokens in lines(data):
        word = tokens[0]
        if corners:
            corners -= 1
            _require_numbers(data, at, tokens, width, "a corner")
        elif word in _NFF_SOLIDS:
            _require_numbers(data, at, tokens[1:], 4, "a solid")
        elif word == b"c":
            corners, width = 2, 4
        elif word in {b"p", b"pp", b"tpp"} and len(tokens) > 1 and tokens[1].isdigit():
            corners, width = int(tokens[1][:10]), 6 if word == b"pp" else 3


def _require_sense8(data: bytes) -> None:
    """Check vertices of each object: its name, the number of them, and a line for each."""
    vertices = 0
    is_named = False
    for at, tokens in lines(data, b"//"):
        if vertices:
            vertices -= 1
            _require_numbers(data, at, tokens, 3, "a vertex")
        elif len(tokens) == 1 and tokens[0].isdigit() and is_named:
            vertices, is_named = int(tokens[0][:10]), False
        else:
            is_named = len(tokens) == 1 and not tokens[0].isdigit()


_SCALES = re.compile(rb"(?mi)^[ \t]*#exec[ \t]+MESHMAP[ \t]+SCALE\b[^\n]*")
_FACTOR = re.compile(rb"(?i)\b[XYZ][ \t]*=[ \t]*([^\s,]*)")


def require_uc(data: bytes) -> None:
    """Check the scales of Unreal's scripts."""
    for scale in _SCALES.finditer(data):
        for factor in _FACTOR.finditer(scale[0]):
            _require_numbers(data, scale.start(), [factor[1]], 1, "a scale")


def require_cob(data: bytes) -> None:
    """Check vertices and transformations of the text of trueSpace."""
    waiting, width = 0, 0
    for at, tokens in lines(data):
        if waiting:
            waiting -= 1
            _require_numbers(data, at, tokens, width, "a vertex" if width == 3 else "a row")
        elif tokens[0] == b"Transform":
            waiting, width = 4, 4
        elif tokens[:2] == [b"World", b"Vertices"] and tokens[2:] and tokens[2].isdigit():
            waiting, width = int(tokens[2][:10]), 3


_XGL = re.compile(rb"<(P|N|TC|FORWARD|UP|POSITION|SCALE)\b[^<>]*+>([^<]*+)<", re.IGNORECASE)
# A scale is one number and a texture coordinate two; the other elements are vectors of three.
_XGL_NUMBERS = {b"SCALE": 1, b"TC": 2}


def require_xgl(data: bytes) -> None:
    """Check places of XGL, whose numbers have commas between them."""
    for found in _XGL.finditer(data):
        width = _XGL_NUMBERS.get(found[1].upper(), 3)
        tokens = found[2].replace(b",", b" ").split()
        _require_numbers(data, found.start(), tokens, width, "a vector")


_OFF = re.compile(rb"(?:ST)?C?N?4?n?OFF\b")


def require_off(data: bytes) -> None:
    """Check vertices and faces of OFF.

    Assimp reads a number up to what follows it, and takes the last vertex for one that does not
    exist.
    """
    rows = lines(data)
    head = next(rows, None)
    if head is None or not _OFF.fullmatch(head.tokens[0]):
        return  # the importer reports the error in the header
    given = head.tokens[1:] or next(rows, Line(0, [])).tokens
    if len(given) < 2 or not all(each.isdigit() for each in given[:2]):
        return
    vertices, faces = (int(each[:10]) for each in given[:2])
    for nth, (at, tokens) in enumerate(rows):
        if nth >= vertices + faces:
            return
        if nth < vertices:
            for token in tokens[:3]:
                coordinate(data, at, token.replace(b",", b"."))  # assimp reads both
        elif tokens[0].isdigit():
            for token in tokens[1 : 1 + int(tokens[0][:10])]:
                vertex_index(data, at, token, vertices)


_AC_COUNTS = frozenset({b"numvert", b"numsurf", b"refs", b"kids"})


def require_ac(data: bytes) -> None:
    """Check the vertices of each object of AC3D, and the corners of its surfaces."""
    size = vertices = corners = 0
    for at, tokens in lines(data):
        if vertices:
            vertices -= 1
            for token in [*tokens, b"", b""][:3]:
                coordinate(data, at, token, finite=True)
        elif corners:
            corners -= 1
            vertex_index(data, at, tokens[0], size)
        elif tokens[0] in {b"loc", b"rot"}:
            for token in tokens[1:]:
                coordinate(data, at, token, finite=True)
        elif tokens[0] in _AC_COUNTS and len(tokens) > 1:
            count = _count(data, at, tokens[1])
            if tokens[0] == b"refs":
                corners = count
            elif tokens[0] == b"numvert":
                size = vertices = count


def _count(data: bytes, at: int, token: bytes) -> int:
    if not token.isdigit():
        raise no_number(line_at(data, at), token)
    return int(token[:10])


def require_raw(data: bytes) -> None:
    """Check lines of numbers; other lines name objects."""
    for at, tokens in lines(data):
        # A colour and corners, or corners; a texture may follow.
        values = [number(token) is not None for token in tokens]
        if len(tokens) > 1 and all(values) and len(tokens) not in {9, 12}:
            place = line_at(data, at)
            raise RefusedError(f"{place}: a triangle has {len(tokens)} numbers, not 9 or 12")
        length = 12 if len(tokens) >= 12 and values[9] else 9
        if len(tokens) >= length:
            for token in tokens[:length]:
                coordinate(data, at, token, finite=True)
