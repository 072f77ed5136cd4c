"""Numbers of JSON, which may be integers of any size."""

import math
from typing import TypeGuard


def is_finite(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number, not a boolean, that floating point can represent."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
