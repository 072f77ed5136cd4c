"""Numbers in text files, read in bulk."""

import codecs
import re
from collections.abc import Callable, Sequence
from typing import TypeVar
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from backend.processing.readers.soundness import no_number, number
from backend.processing.scene import Floats, RefusedError

_Number = TypeVar("_Number", bound=np.generic)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # of UTF-8
_COMMENT = re.compile(rb"(?:^|\s)#")  # not in 1.#IND
# As objects of Python, the tokens of a chunk take several times its bytes.
_CHUNK = 1 << 24
# All but tabs, line ends, the end mark of DOS (0x1A), and the escape of ISO 2022 (0x1B).
_CONTROLS = bytes(set(range(1, 32)) - set(b"\t\n\v\f\r\x1a\x1b"))
# The start suffices to tell binary files, which have control characters throughout.
_SAMPLE = 1 << 16


def require_text(data: bytes, kind: str) -> None:
    """Refuse bytes that are no text in any encoding: their start has many control characters."""
    sample = data[:_SAMPLE].rstrip(b"\0")
    if sample[:2] in {b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"}:  # UTF-16
        return
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
        most = len(sample) / 4
    except UnicodeDecodeError:
        most = len(sample) / 50  # of texts in other encodings
    if controls > most:
        raise RefusedError(f"is not a text file, as {kind} files are")


def utf8_lines(data: bytes) -> bytes:
    """Return a text in UTF-8 without a byte order mark, each line ended by a line feed."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(BYTE_ORDER_MARK)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def compose(name: bytes) -> bytes:
    """Return a name in the Unicode form NFC, in which names are compared."""
    return name if name.isascii() else normalize("NFC", name.decode("utf-8", "replace")).encode()


def numbers(data: bytes) -> Floats:
    """Return all numbers of a text between spaces and line ends; what is not one is NaN."""
    parsed, start = list[Floats](), 0
    while start < len(data):
        end = start + _CHUNK
        # A chunk ends after a token: as objects, all tokens would take much memory.
        rest = data[end : end + 4096].split(None, 1)[:1] if end < len(data) else []
        if rest and not data[end : end + 1].isspace():
            end += len(rest[0])
        text = data[start:end]
        try:
            parsed.append(array_of(text, np.float64))
        except ValueError:
            parsed.append(np.array([_number(token) for token in text.split()], np.float64))
        start = end
    return np.concatenate(parsed) if parsed else np.zeros(0)


def array_of(text: bytes, kind: type[_Number]) -> NDArray[_Number]:
    """Return the numbers between spaces.

    Raises:
        ValueError: a token is not one.
    """
    if b"_" in text:
        raise ValueError("Python reads 1_0 as 10")
    return np.array(text.split()).astype(kind)


def table(lines: Sequence[bytes], columns: Sequence[int]) -> Floats:
    """Parse the numbers of lines that all should have as many as one of `columns`.

    A line with another count is cut or filled with zeros; what is not a number becomes NaN.
    """
    if not lines:
        return np.zeros((0, columns[0]))
    try:
        parsed = array_of(b" ".join(lines), np.float64)
    except ValueError:
        parsed = np.zeros(0)
    for width in columns:
        if len(parsed) == width * len(lines):
            return parsed.reshape(-1, width)
    return np.array([_row(line, columns[0]) for line in lines])


def coordinates(
    lines: Sequence[bytes], columns: Sequence[int], place: Callable[[int], str]
) -> Floats:
    """As `table`, for lines that have at least `columns[0]` numbers.

    `place` returns where the nth line is in the file.

    Raises:
        RefusedError: a line has fewer tokens, or one that is no number.
    """
    rows = table(lines, columns)
    if np.isfinite(rows).all() and all(
        len(line.split(None, columns[0])) >= columns[0] for line in lines
    ):
        return rows
    for nth, line in enumerate(lines):
        tokens = _COMMENT.split(line, maxsplit=1)[0].split()[: columns[0]]
        for token in tokens:
            if number(token) is None:
                raise no_number(place(nth), token)
        if len(tokens) < columns[0]:
            raise RefusedError(
                f"{place(nth)}: a vertex has {len(tokens)} of {columns[0]} coordinates"
            )
    return rows


def _row(line: bytes, width: int) -> list[float]:
    numbers = [_number(token) for token in line.split()[:width]]
    return numbers + [0.0] * (width - len(numbers))


def _number(token: bytes) -> float:
    value = number(token)
    return float("nan") if value is None else value
