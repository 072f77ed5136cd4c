"""Comparators of search filters, as MLflow's SQL store decides them."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from vitrine_mlflow.errors import invalid, violated_error


def like_matches(text: str, pattern: str, *, ignore_case: bool) -> bool:
    """SQL's LIKE: `%` is any text, `_` one character, the pattern covers the whole text."""
    if ignore_case:
        text, pattern = ascii_lower(text), ascii_lower(pattern)
    regex = "".join({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    return re.fullmatch(regex, text, re.DOTALL) is not None


def ascii_lower(text: str) -> str:
    """Lower ASCII letters only, as SQLite does, whose results searches equal."""
    return "".join(char.lower() if char.isascii() else char for char in text)


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "IN": lambda value, wanted: value in wanted,
    "NOT IN": lambda value, wanted: value not in wanted,
    "LIKE": lambda value, pattern: like_matches(value, pattern, ignore_case=False),
    "ILIKE": lambda value, pattern: like_matches(value, pattern, ignore_case=True),
}
"""Returns whether a value matches a filter's value, by comparator."""
_OF_LISTS = frozenset({"IN", "NOT IN"})
_NUMERIC = frozenset({"=", "!=", "<", "<=", ">", ">="})


def matches(stored: Any, comparator: str, value: Any) -> bool:
    """Whether a stored value meets a comparator; a missing one meets none."""
    return stored is not None and COMPARISONS[comparator](stored, value)


def require_comparable(comparator: str, value: Any) -> None:
    """Refuse a list with another comparator than IN, and IN without a list, as SQL does.

    Raises:
        MlflowException: the comparator cannot be used with the value.
    """
    if (comparator in _OF_LISTS) != isinstance(value, tuple):
        raise violated_error(
            f"The comparator {comparator} cannot be used with the value {value!r}."
        )


def whole_number(key: str, comparator: str, value: Any) -> int:
    """The value of a filter on a numeric attribute, with MLflow's messages.

    Raises:
        MlflowException: the comparator is not for numbers, or the value is no whole number.
    """
    if comparator not in _NUMERIC:
        raise invalid(f"Invalid comparator for numeric attribute: {comparator}")
    if isinstance(value, float):
        raise invalid(f"Invalid value for numeric attribute '{key}': {str(value)!r}")
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise invalid(f"Invalid value for numeric attribute '{key}': {value!r}") from error
