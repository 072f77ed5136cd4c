"""Numbers in text files, read in bulk."""

from collections.abc import Sequence

import numpy as np

from backend.processing.scene import Floats


def table(lines: Sequence[bytes], columns: Sequence[int]) -> Floats:
    """Parse the numbers of lines that all should have as many as one of `columns`.

    A line with another count is cut or filled with zeros; what is not a number becomes NaN.
    """
    if not lines:
        return np.zeros((0, columns[0]))
    tokens = b" ".join(lines).split()
    for width in columns:
        if len(tokens) == width * len(lines):
            try:
                return np.array(tokens).astype(np.float64).reshape(-1, width)
            except ValueError:
                break
    return np.array([_row(line, columns[0]) for line in lines])


def _row(line: bytes, width: int) -> list[float]:
    numbers = [_number(token) for token in line.split()[:width]]
    return numbers + [0.0] * (width - len(numbers))


def _number(token: bytes) -> float:
    try:
        return float(token)
    except ValueError:
        return float("nan")
