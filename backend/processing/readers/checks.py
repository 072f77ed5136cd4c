"""Refuses broken texts before their reader reads them: files that were cut off, and words.

Assimp and OpenCASCADE read what is no number as zero, or as another number. Formats of the tier
`Read` have no check: nothing about their facts is confirmed.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping

from backend.processing.readers.iges_records import require_iges
from backend.processing.readers.soundness import coordinate, line_at, no_number, number
from backend.processing.readers.text import utf8_lines
from backend.processing.scene import RefusedError

# End marks are the last token of a file; some programs add blanks or zeros after it.
_TAIL = 4096
NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def _tail_of(data: bytes) -> bytes:
    return utf8_lines(data[-_TAIL:]).rstrip(b"\0\x1a \t\n")


# Keywords of OBJ that may have no value.
_WORDS = frozenset({b"g", b"o", b"s", b"end"})
# Minimum number of values of each keyword of OBJ.
_FEWEST = {b"v": 3, b"vn": 3, b"vt": 1, b"f": 3, b"l": 2}


def _require_obj_end(data: bytes) -> None:
    """Require that the last line of OBJ, which has no end mark, is a whole element."""
    if utf8_lines(data[-_TAIL:]).rstrip(b"\0").endswith(b"\n"):
        return
    tokens = _tail_of(data).rsplit(b"\n", 1)[-1].split()
    if not tokens or tokens[0].startswith(b"#"):
        return
    is_cut = len(tokens) == 1 and tokens[0] not in _WORDS
    if is_cut or len(tokens) - 1 < _FEWEST.get(tokens[0], 0):
        name = tokens[0][:40].decode("utf-8", "replace")
        raise RefusedError(f"truncated: the OBJ file ends within an element ({name})")


_SECTIONS = tuple(
    re.compile(rb"(?mi)^[ \t]*" + word + rb"[ \t]*$")
    for word in (rb"SECTION[ \t]*\n[ \t]*2", rb"ENDSEC")  # a section begins with its name
)


def _require_dxf_sections(data: bytes) -> None:
    if data.startswith(b"AutoCAD Binary DXF"):
        return
    if _tail_of(data)[-3:].upper() != b"EOF":
        raise RefusedError("truncated: the DXF file does not end with EOF")
    text = utf8_lines(data)
    begun, ended = (len(mark.findall(text)) for mark in _SECTIONS)
    if begun != ended:
        raise RefusedError(f"the DXF file has {begun} sections, of which {ended} end")


# The tokens of these are numbers only; nearly all are numbers as regular expressions know them.
_ODD_FLOATS = re.compile(
    rb"<(?:\w+:)?(?:float_array|matrix|translate|rotate|scale|lookat)\b[^<>]*+(?<!/)>(?!(?:\s*+"
    + NUMBER
    + rb"(?=[\s<]))*+\s*+<)([^<]*)<"
)

_ODD_INDICES = re.compile(rb"<(?:\w+:)?(?:p|v|vcount)>(?!(?:\s*+-?\d++(?=[\s<]))*+\s*+<)([^<]*)<")


def _require_collada(data: bytes) -> None:
    """Check arrays, indices and transformations of Collada.

    Assimp reads a number up to what follows it, and does not end after an index that is none.
    """
    text = utf8_lines(data)
    if b"COLLADA" not in text[:4096]:
        return
    for element in _ODD_INDICES.finditer(text):
        for token in element[1].split():
            if not token.removeprefix(b"-").isdigit():
                raise no_number(line_at(text, element.start()), token)
    for element in _ODD_FLOATS.finditer(text):
        for token in element[1].split():
            coordinate(text, element.start(), token.replace(b",", b"."))  # assimp reads both


_STEP_HEADER = re.compile(rb"(?<!END-)ISO-10303-21;")
# A string or a comment, or a parameter that begins as a number or a name and is none.
_ODD_PARAMETER = re.compile(
    rb"'[^']*+(?:'|\Z)|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|[(,]\s*+(?!"
    + NUMBER
    + rb"\s*[,)])([^\s'\"(),.#$*/;][^\s'(),/;]*+)(?=\s*[,)])"
)


_POINT = re.compile(
    rb"\b(?:CARTESIAN_POINT|DIRECTION)\s*+\(\s*+(?:'[^']*+'|[$*])\s*+,\s*+\(([^()]*+)\)"
)


def require_step(data: bytes) -> None:
    """Check header, end and parameters of STEP: others OpenCASCADE reads as zero, or for ever."""
    data = utf8_lines(data)
    if b"ISO-10303-21" not in data[:1024]:
        raise RefusedError("not a STEP file: it has no header")
    if len(_STEP_HEADER.findall(data[:4096])) > 1:
        raise RefusedError("the STEP file has two headers")
    if b"END-ISO-10303-21" not in _tail_of(data):
        raise RefusedError("truncated: the STEP file does not end with END-ISO-10303-21")
    for parameter in _ODD_PARAMETER.finditer(data):
        if parameter[1] is not None:
            token = parameter[1]
            read = token.upper().replace(b"D", b"E")  # exponents of Fortran
            if number(read) is None or not math.isfinite(number(read) or 0.0):
                raise no_number(line_at(data, parameter.start(1)), token)
    for point in _POINT.finditer(data):
        if point[1].count(b",") > 2:
            place, count = line_at(data, point.start()), point[1].count(b",") + 1
            raise RefusedError(
                f"{place}: a point has {count} coordinates: decimals are written with a point"
            )


def _require_iges(data: bytes) -> None:
    text = utf8_lines(data)
    if not any(line[72:73] == b"T" for line in _tail_of(text).split(b"\n")[-3:]):
        raise RefusedError("truncated: the IGES file has no terminate section")
    require_iges(text)


_COMMENT = re.compile(
    rb"(\"[^\"\n]*+\"?)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"  # or a string
)
_SEPARATORS = bytes.maketrans(b",{}", b"   ")
_WORD = re.compile(rb"[^\s,{}]+")


def _require_numbers(text: bytes, data: bytes, start: int) -> int:
    """Require that all words of a list are numbers; return how many there are.

    The list begins at `start` of `data`.
    """
    words = text.translate(_SEPARATORS).split()
    try:
        if b"_" not in text:
            list(map(float, words))
            return len(words)
    except ValueError:
        pass
    for word in _WORD.finditer(text):
        if number(word[0]) is None:
            raise no_number(line_at(data, start + word.start()), word[0])
    return len(words)


_FBX_LIST = re.compile(rb"\b(?:Vertices|PolygonVertexIndex):\s*+(?:\*(\d+)\s*+\{\s*+a:)?")
_FBX_END = re.compile(rb"\}|\n[ \t]*[A-Za-z]\w*:")
_FBX_PLACE = re.compile(
    rb"\b(?:P|Property):\s*+\"(?:Lcl |Geometric|Pre|Post|Rotation|Scaling|UnitScale|\w*Axis)"
    rb"[^\"\n]*\"(?:,\s*+\"[^\"\n]*\")+,([^\"\n]*)"
)


def _require_fbx(data: bytes) -> None:
    """Check vertices, corners and places in the text of FBX."""
    if data.startswith(b"Kaydara"):
        return
    data = utf8_lines(data)
    for start, end, declared in _fbx_lists(data):
        # Of the same length: places remain the same.
        text = _COMMENT.sub(
            lambda comment: (
                comment[1] or b"\n".join(b" " * len(line) for line in comment[0].split(b"\n"))
            ),
            data[start:end],
        )
        count = _require_numbers(text, data, start)
        if declared is not None and count != int(declared[:18]):
            raise RefusedError(
                f"{line_at(data, start)}: the list has {count} numbers, {declared.decode()} are "
                "declared"
            )


def _fbx_lists(data: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    at = 0
    while begin := _FBX_LIST.search(data, at):
        end = _FBX_END.search(data, begin.end())
        at = end.start() if end else len(data)
        yield begin.end(), at, begin[1]
    for begin in _FBX_PLACE.finditer(data):
        yield begin.start(1), begin.end(1), None


CHECKS: Mapping[str, Callable[[bytes], None]] = {
    "collada": _require_collada,
    "dxf": _require_dxf_sections,
    "fbx": _require_fbx,
    "iges": _require_iges,
    "obj": _require_obj_end,
    "step": require_step,
}
