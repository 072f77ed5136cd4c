"""Comparators of search filters, as MLflow's SQL store decides them."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any


def like_matches(text: str, pattern: str, *, ignore_case: bool) -> bool:
    """SQL's LIKE: `%` is any text, `_` one character, the pattern covers the whole text."""
    if ignore_case:
        text, pattern = _lower(text), _lower(pattern)
    regex = "".join({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch(regex, text, re.DOTALL) is not None


def _lower(text: str) -> str:
    # SQLite, whose results searches equal, lowers ASCII letters only
    return "".join(char.lower() if char.isascii() else char for char in text)


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "IN": lambda found, wanted: found in wanted,
    "NOT IN": lambda found, wanted: found not in wanted,
    "LIKE": lambda found, pattern: like_matches(found, pattern, ignore_case=False),
    "ILIKE": lambda found, pattern: like_matches(found, pattern, ignore_case=True),
}
"""Whether a value that was found meets a comparator with the value of the filter."""
