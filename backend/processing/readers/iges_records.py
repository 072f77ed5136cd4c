"""The records of IGES: OpenCASCADE reads a number that is none as zero, and skips odd entities."""

import re
from collections.abc import Iterator

from backend.processing.readers.soundness import no_number, number
from backend.processing.scene import RefusedError

_DEFAULT_DELIMITERS = re.compile(rb"(?:1H,)?,(?:1H;)?,")
_TEXT = re.compile(rb"(?:^|,)\s*\d+H")
_DATA = 64  # columns of parameters, before the number of the entity
# Columns 73 to 80 have the section and the number of the line.
_WIDTH = 72
_SECTION = re.compile(rb"[SGDPT]")
# The type numbers of geometry entities.
_GEOMETRY = range(100, 200)


def require_iges(data: bytes) -> None:
    """Check the kinds of entities in the directory, and the numbers of geometry.

    Raises:
        RefusedError: the line, and what is in it.
    """
    lines = [(nth, line) for nth, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if not lines or _section(lines[0][1]) != b"S":
        return  # compressed or binary, or no IGES
    for nth, line in lines:
        if not _SECTION.fullmatch(_section(line)):
            raise RefusedError(f"line {nth}: its column 73 names no section")
    kinds = dict(_directory([line for line in lines if _section(line[1]) == b"D"]))
    header = b"".join(line[:_WIDTH] for _, line in lines if _section(line) == b"G")
    if not _DEFAULT_DELIMITERS.match(header):
        return
    parameters = [line for line in lines if _section(line[1]) == b"P"]
    for nth, owner, text in _records(parameters):
        if owner in kinds:
            _require_parameters(nth, text, kinds[owner])


def _section(line: bytes) -> bytes:
    return line[_WIDTH : _WIDTH + 1]


def _directory(lines: list[tuple[int, bytes]]) -> Iterator[tuple[int, int]]:
    """Return the kind of each entity by its number; it is in both lines of the entity."""
    for (nth, first), (_, second) in zip(lines[::2], lines[1::2], strict=False):
        kinds = [line[:8].strip() for line in (first, second)]
        for kind in kinds:
            if not kind.isdigit():
                raise no_number(f"line {nth}", kind)
        if kinds[0] != kinds[1]:
            first_kind, other = (kind.decode() for kind in kinds)
            raise RefusedError(
                f"line {nth}: the entity is of kind {first_kind} and of kind {other}"
            )
        place = first[_WIDTH + 1 :].strip()
        if place.isdigit():
            yield int(place), int(kinds[0])


def _records(lines: list[tuple[int, bytes]]) -> Iterator[tuple[int, int, bytes]]:
    """Return the first line, the entity and the parameters of each record."""
    start, owner, texts = 0, b"", list[bytes]()
    for nth, line in [*lines, (0, b"")]:
        of = line[_DATA:_WIDTH].strip()
        if of != owner:
            if owner.isdigit():
                yield start, int(owner), b"".join(texts)
            start, owner, texts = nth, of, []
        texts.append(line[:_DATA].strip())


def _require_parameters(nth: int, text: bytes, kind: int) -> None:
    values = [value.strip() for value in text.split(b";", 1)[0].split(b",")]
    if values[0] != str(kind).encode():
        written = values[0][:20].decode("utf-8", "replace")
        raise RefusedError(f"line {nth}: the parameters are of kind {written}, not {kind}")
    if kind in _GEOMETRY and not _TEXT.search(text):
        for value in values:
            if value and number(value.upper().replace(b"D", b"E")) is None:
                raise no_number(f"line {nth}", value)
