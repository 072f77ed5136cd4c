"""Describes the errors of a validation for people: the field as it was sent, and a sentence.

pydantic's own messages name types of Python, patterns, and the members of unions.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from backend.core.errors import FieldError
from backend.core.models import WrongFieldError

_TEXT = "must be text"
_OBJECT = "must be a JSON object"
_SENTENCES: Mapping[str, str] = {
    "missing": "is required",
    "string_type": _TEXT,
    "string_unicode": "is not valid Unicode text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "must be a whole number"
    ),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    "finite_number": "must be a finite number",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _OBJECT),
}
_LIMITS: Mapping[str, tuple[str, str]] = {
    "greater_than_equal": ("must be at least {}", "ge"),
    "greater_than": ("must be greater than {}", "gt"),
    "less_than_equal": ("must be at most {}", "le"),
    "less_than": ("must be less than {}", "lt"),
    "literal_error": ("must be {}", "expected"),
    "json_invalid": ("is not valid JSON: {}", "error"),
}
_LENGTHS: Mapping[str, tuple[str, str]] = {
    "too_long": ("most", "max_length"),
    "string_too_long": ("most", "max_length"),
    "too_short": ("least", "min_length"),
    "string_too_short": ("least", "min_length"),
}

_UNITS = {True: ("character", "characters"), False: ("entry", "entries")}


def field_errors(error: ValidationError, sent: object, *, place: str) -> Iterator[FieldError]:
    """Yield the errors of each invalid field of the values that were sent; None if they were text.

    An error of no single field is reported for `place`.
    """
    facts: dict[str, list[str]] = {}
    for entry in error.errors(include_url=False):
        field = ".".join(_path(entry, sent)) or place
        facts.setdefault(field, []).append(_sentence(entry))
    for field, field_facts in facts.items():
        # Of a value that may have one of several types, pydantic reports each.
        yield FieldError(
            field, " or ".join(dict.fromkeys(field_facts)).replace(" or must be ", " or ")
        )


def _path(entry: ErrorDetails, sent: object) -> Iterator[str]:
    if sent is None:
        yield from map(str, entry["loc"])
    else:
        yield from _steps(entry["loc"], sent, is_missing=entry["type"] == "missing")
    cause = entry.get("ctx", {}).get("error")
    if isinstance(cause, WrongFieldError):
        yield cause.field


def _steps(loc: Sequence[str | int], sent: object, *, is_missing: bool) -> Iterator[str]:
    """Yield the parts of a place that lead through the sent values, without those of unions."""
    value = sent
    for number, step in enumerate(loc):
        if isinstance(value, Mapping) and step in value:
            value = cast("Mapping[Any, object]", value)[step]
        elif isinstance(value, list) and isinstance(step, int):
            entries = cast("list[object]", value)
            value = entries[step] if step < len(entries) else None
        elif not (is_missing and number == len(loc) - 1):
            continue
        yield str(step)


def _sentence(entry: ErrorDetails) -> str:
    kind, limits = entry["type"], entry.get("ctx", {})
    if kind in _SENTENCES:
        return _SENTENCES[kind]
    if kind in _LIMITS:
        sentence, name = _LIMITS[kind]
        return sentence.format(limits[name])
    if kind in _LENGTHS:
        bound, name = _LENGTHS[kind]
        single, many = _UNITS[isinstance(entry["input"], str)]
        unit = single if limits[name] == 1 else many
        return f"must have at {bound} {limits[name]} {unit}, but has {len(entry['input'])}"
    return entry["msg"].removeprefix("Value error, ")
