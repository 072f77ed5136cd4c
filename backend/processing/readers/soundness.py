"""Checks of numbers and indices of a model: elements to leave out, and texts that name them.

Nothing is left out silently: a reader adds the texts to its scene, where they become a fact.
"""

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from backend.processing.scene import Floats, Indices, RefusedError

Bools = NDArray[np.bool_]
# Non-finite numbers as C libraries print them, besides `nan` and `inf`, and exponents with a
# leading sign, which no other program reads.
_NOT_FINITE = re.compile(
    rb"(?i)[-+]?(?:\d+\.?\d*#(?:ind|inf|qnan|snan)\w*|nan\(.*\)|\d+\.?\d*[-+]e\d+)"
)


def finite_rows(positions: Floats) -> Bools:
    """Return which vertices are finite."""
    rows: Bools = np.all(np.isfinite(positions), axis=1)
    return rows


def unusable(corners: Indices, counts: Indices, finite: Bools, fewest: int) -> Bools:
    """Return for each element whether it has too few corners, or one that is not valid.

    `corners` are the vertices of all elements in a row, from 0; `counts` how many each has;
    `finite` says which vertices are finite.
    """
    wrong = counts < fewest
    owner = np.repeat(np.arange(len(counts)), counts)
    unknown = (corners < 0) | (corners >= len(finite))
    if not finite.all():
        unknown[~unknown] = ~finite[corners[~unknown]]
    wrong[owner[unknown]] = True
    return wrong


def left_out_text(
    wrong: Bools, what: str, place: Callable[[int], str], *, finite: bool
) -> list[str]:
    """Return the text about elements that are left out, if there are any.

    `place` returns where the nth element is in the file; `finite` says whether all vertices are.
    """
    number = int(wrong.sum())
    if not number:
        return []
    first = place(int(wrong.argmax()))
    fact = "have too few corners, or a vertex that does not exist"
    fact += "" if finite else " or is not finite"
    return [f"{number} of {len(wrong)} {what} {fact} (first: {first})"]


def number(token: bytes) -> float | None:
    """Return the number that a token is, None if it is none."""
    if b"_" in token:  # Python reads 1_0 as 10
        return None
    try:
        return float(token)
    except ValueError:
        return float("nan") if _NOT_FINITE.fullmatch(token) else None


def no_number(place: str, token: bytes) -> RefusedError:
    """Return the refusal of a file because of a token."""
    text = token[:40].decode("utf-8", "replace")
    hint = ": decimals are written with a point" if re.fullmatch(rb"[-+\d.]*,[\d.]+", token) else ""
    return RefusedError(f"{place}: '{text}' is not a number{hint}")


def line_at(data: bytes, offset: int) -> str:
    """Return the place of an offset in a text whose lines end with line feeds."""
    before = data.count(b"\n", 0, offset)
    return f"line {before + 1}"


def coordinate(data: bytes, at: int, token: bytes) -> None:
    """Require a number, which need not be finite."""
    if number(token) is None:
        raise no_number(line_at(data, at), token)
