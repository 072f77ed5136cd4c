"""Lists of numbers in texts of which assimp reads a number up to its first odd character."""

import re
import struct
from collections.abc import Iterator
from functools import partial

from backend.processing.readers.soundness import line_at, no_number, number
from backend.processing.scene import RefusedError

_COMMENT = re.compile(
    rb"(\"[^\"\n]*+\"?)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"  # or a string
)
QUOTED = re.compile(rb"\"[^\"\n]*+\"")
_SEPARATORS = bytes.maketrans(b",{}", b"   ")
_WORD = re.compile(rb"[^\s,{}]+")


def _without_comments(text: bytes) -> bytes:
    """Return a text of the same length: places remain the same."""
    return _COMMENT.sub(
        lambda found: found[1] or b"\n".join(b" " * len(each) for each in found[0].split(b"\n")),
        text,
    )


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


_OGEX_LIST = re.compile(
    rb"\b(half|float(?:16|32|64)?|double|(?:unsigned_)?int(?:8|16|32|64))\b"
    rb"\s*+(?:\[\s*(\d+)\s*\])?\s*+[$%]?\w*+\s*+\{"
)
_END_OF_ROWS = re.compile(rb"\}\s*+\}")
_BASES = {b"0x": 16, b"0o": 8, b"0b": 2}
_LAYOUTS = {b"half": ">e", b"float16": ">e", b"double": ">d", b"float64": ">d"}


def with_plain_numbers(data: bytes) -> bytes:
    """Return Open Game Engine Exchange with decimal numbers in its lists, without comments.

    Importers read other numbers, which are valid there, as zero or another number.

    Raises:
        RefusedError: a list has something else, or a number less than its rows have.
    """
    data = _without_comments(data)
    outside = QUOTED.sub(b"", data)
    if outside.count(b"{") != outside.count(b"}"):  # the importer would crash
        raise RefusedError("truncated: not all braces are closed")
    read, at = list[bytes](), 0
    while found := _OGEX_LIST.search(data, at):
        start, end = found.end(), _END_OF_ROWS.search(data, found.end()) if found[2] else None
        close = end.start() if end else data.find(b"}", start)
        read.append(data[at:start])
        at = len(data) if close < 0 else close
        layout = None if b"int" in found[1] else _LAYOUTS.get(found[1], ">f")
        decimals = _WORD.sub(partial(_decimal, layout=layout), data[start:at])
        count, columns = _require_numbers(decimals, data, start), int((found[2] or b"1")[:18])
        if count % max(columns, 1):
            raise RefusedError(f"{line_at(data, start)}: {count} numbers are no rows of {columns}")
        read.append(decimals)
    return b"".join([*read, data[at:]])


def _decimal(word: re.Match[bytes], *, layout: str | None) -> bytes:
    """Return a literal as a decimal number: digits in another base are the bits of a fraction."""
    base = _BASES.get(word[0].lstrip(b"+-")[:2].lower())
    try:
        if layout is None:
            return str(int(word[0], base or 10)).encode()
        if base is None:
            return word[0].removeprefix(b"+").replace(b"_", b"")
        bits = int(word[0], base).to_bytes(struct.calcsize(layout), "big")
        return repr(struct.unpack(layout, bits)[0]).encode()
    except (ValueError, OverflowError):
        return word[0]


_FBX_LIST = re.compile(rb"\b(?:Vertices|PolygonVertexIndex):\s*+(?:\*(\d+)\s*+\{\s*+a:)?")
_FBX_END = re.compile(rb"\}|\n[ \t]*[A-Za-z]\w*:")
_FBX_PLACE = re.compile(
    rb"\b(?:P|Property):\s*+\"(?:Lcl |Geometric|Pre|Post|Rotation|Scaling|UnitScale|\w*Axis)"
    rb"[^\"\n]*\"(?:,\s*+\"[^\"\n]*\")+,([^\"\n]*)"
)


def require_fbx(data: bytes) -> None:
    """Check vertices, corners and places in the text of FBX."""
    if data.startswith(b"Kaydara"):
        return
    for start, end, declared in _fbx_lists(data):
        text = _without_comments(data[start:end])
        count = _require_numbers(text, data, start)
        if declared is not None and count != int(declared[:18]):
            raise RefusedError(
                f"{line_at(data, start)}: the list has {count} numbers, {declared.decode()} are "
                "declared"
            )


def _fbx_lists(data: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    at = 0
    while found := _FBX_LIST.search(data, at):
        end = _FBX_END.search(data, found.end())
        at = end.start() if end else len(data)
        yield found.end(), at, found[1]
    for found in _FBX_PLACE.finditer(data):
        yield found.start(1), found.end(1), None
