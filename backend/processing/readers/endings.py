"""The ends of text models: whether one was cut off.

Formats with an end mark are refused without it. Of the others only an incomplete last element can
be recognised, and a fact says whether the text ends within a line.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from backend.processing.readers.text import utf8_lines
from backend.processing.readers.text_lists import QUOTED
from backend.processing.scene import RefusedError

# Formats without an end mark and without counts, in which truncation at the end of a line cannot be
# detected.
OPEN_ENDED = frozenset({"lws", "nff", "obj", "raw", "uc"})
# End marks are the last token of a file; some programs add blanks or zeros after it.
_TAIL = 4096
_SECTIONS = tuple(
    re.compile(rb"(?mi)^[ \t]*" + word + rb"[ \t]*$")
    for word in (rb"SECTION[ \t]*\n[ \t]*2", rb"ENDSEC")  # a section begins with its name
)
# Keywords of OBJ that may have no value.
_WORDS = frozenset({b"g", b"o", b"s", b"end"})
# Minimum number of values of each keyword of OBJ.
_FEWEST = {b"v": 3, b"vn": 3, b"vt": 1, b"f": 3, b"l": 2}
_RAW_NUMBERS = frozenset(
    {0, 9, 12}
)  # of a line: an object's name, corners, or a colour and corners
_POLYGON = re.compile(rb"(?m)^[ \t]*t?pp?[ \t]+(\d+)[^\n]*\n?")


class _Mark(NamedTuple):
    pattern: re.Pattern[bytes]
    reason: str


_MARKS: Mapping[str, _Mark] = {
    **{
        each: _Mark(
            re.compile(rb"(?i)(?:\A|\n)[ \t]*end\Z"),
            f"{each.upper()} file does not end with `end`",
        )
        for each in ("smd", "vta")
    },
    **dict.fromkeys(
        ("step", "stp"),
        _Mark(re.compile(rb"END-ISO-10303-21"), "STEP file does not end with END-ISO-10303-21"),
    ),
    **dict.fromkeys(
        ("md5anim", "md5camera", "md5mesh"),
        _Mark(re.compile(rb"\}[ \t]*(?://[^\n]*)?\Z"), "MD5 file does not end with }"),
    ),
    "cob": _Mark(re.compile(rb"(?s)END .{0,64}\Z"), "COB file has no END"),
}
_MOTION = re.compile(rb"(?m)^[ \t]*\w+Motion\b[^\n]*")


def require_end(extension: str, data: bytes) -> None:
    """Refuse a text that was cut off.

    Raises:
        RefusedError: the end mark of the format is missing, or the last element is not complete.
    """
    tail = utf8_lines(data[-_TAIL:]).rstrip(b"\0\x1a \t\n")
    if extension in _MARKS and not _MARKS[extension].pattern.search(tail):
        raise RefusedError(f"truncated: the {_MARKS[extension].reason}")
    if extension == "dxf" and not data.startswith(b"AutoCAD Binary DXF"):
        _require_sections(utf8_lines(data), tail)
    if extension in {"iges", "igs"} and not any(
        line[72:73] == b"T" for line in tail.split(b"\n")[-3:]
    ):
        raise RefusedError("truncated: the IGES file has no terminate section")
    if extension == "off" and b"BINARY" not in data[:40]:
        _require_off_lines(utf8_lines(data))
    if extension == "ase":
        _require_braces(data)
    if extension == "lws":
        _require_motion(utf8_lines(data))
    if extension == "raw":
        _require_raw_line(tail.rsplit(b"\n", 1)[-1])
    if extension == "nff" and data.lstrip()[:3].lower() != b"nff":
        _require_polygon(utf8_lines(data))
    if extension == "obj" and ends_within_line(data):
        _require_obj_line(tail.rsplit(b"\n", 1)[-1].split())


def ends_within_line(data: bytes) -> bool:
    """Return whether a text has no line end at its end."""
    return not utf8_lines(data[-_TAIL:]).rstrip(b"\0").endswith(b"\n")


def _require_sections(text: bytes, tail: bytes) -> None:
    if tail[-3:].upper() != b"EOF":
        raise RefusedError("truncated: the DXF file does not end with EOF")
    begun, ended = (len(mark.findall(text)) for mark in _SECTIONS)
    if begun != ended:
        raise RefusedError(f"the DXF file has {begun} sections, of which {ended} end")


def _require_off_lines(text: bytes) -> None:
    """Require as many lines as OFF declares vertices and faces, and a whole last face."""
    lines = [line for each in text.split(b"\n") if (line := each.split(b"#", 1)[0].split())]
    if lines and not lines[0][0].isdigit():
        lines = lines[1:] if len(lines[0]) == 1 else [lines[0][1:], *lines[1:]]
    if not lines or not all(token.isdigit() for token in lines[0][:2]) or len(lines[0]) < 2:
        return  # the importer reports the error in the header
    vertices, faces = (int(token[:18]) for token in lines[0][:2])
    held = len(lines) - 1
    if held < vertices + faces:
        raise RefusedError(
            f"truncated: the OFF file declares {vertices} vertices and {faces} faces, "
            f"{held} lines follow"
        )
    last = lines[vertices + faces]
    if faces and last[0].isdigit() and len(last) - 1 < int(last[0][:10]):
        raise RefusedError("truncated: the last face of the OFF file is not complete")


def _require_braces(text: bytes) -> None:
    outside = QUOTED.sub(b"", utf8_lines(text))
    if outside.count(b"{") > outside.count(b"}"):
        raise RefusedError("truncated: not all braces are closed")


def _require_motion(text: bytes) -> None:
    """Require a line with a keyword after each motion of a scene: the importer waits for one."""
    last = None
    for last in _MOTION.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    if last is not None and not re.search(rb"\n[ \t]*[A-Za-z]", text[last.end() :]):
        raise RefusedError("truncated: the scene ends within a motion")


def _require_raw_line(line: bytes) -> None:
    numbers = 0
    for token in line.split():
        if not re.fullmatch(rb"[-+.\deE]+", token):
            break
        numbers += 1
    if numbers not in _RAW_NUMBERS:
        raise RefusedError(f"truncated: the last line of the RAW file has {numbers} numbers")


def _require_polygon(text: bytes) -> None:
    """Require the corners that the last polygon of NFF declares, each on a line."""
    last = None
    for last in _POLYGON.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    if last is None:
        return
    declared = int(last.group(1))
    found = sum(bool(line.strip()) for line in text[last.end() :].split(b"\n"))
    if found < declared:
        raise RefusedError(
            f"truncated: the last polygon of the NFF file has {declared} corners, {found} follow"
        )


def _require_obj_line(tokens: list[bytes]) -> None:
    if not tokens or tokens[0].startswith(b"#"):
        return
    is_cut = len(tokens) == 1 and tokens[0] not in _WORDS
    if is_cut or len(tokens) - 1 < _FEWEST.get(tokens[0], 0):
        name = tokens[0][:40].decode("utf-8", "replace")
        raise RefusedError(f"truncated: the OBJ file ends within an element ({name})")
