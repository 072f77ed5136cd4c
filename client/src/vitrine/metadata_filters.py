"""Filters of searches by metadata, as values and as people type them."""

import json
import re
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from vitrine.errors import VitrineError

FilterOperator = Literal[
    "eq", "in", "gt", "gte", "lt", "lte", "between", "exists", "geoDistance", "geoBox"
]
ValueType = Literal["string", "number", "date", "boolean"]

_OPERATORS: Final[dict[str, FilterOperator]] = {
    "=": "eq",
    ">=": "gte",
    ">": "gt",
    "<=": "lte",
    "<": "lt",
}
_TYPED = re.compile(r"(?P<key>[^=<>]*)(?P<op>>=|<=|=|>|<)(?P<value>.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class FilterError(VitrineError):
    """The text is no filter; the message says what one looks like."""


@dataclass(frozen=True, kw_only=True)
class MetadataFilter:
    """One condition on a metadata key. The value says its type, unless `type` does."""

    key: str
    op: FilterOperator
    value: JsonValue = None
    type: ValueType | None = None

    def body(self) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {"key": self.key, "op": self.op}
        if self.value is not None:
            found["value"] = self.value
        if self.type is not None:
            found["type"] = self.type
        return found


def parse_filter(text: str) -> MetadataFilter:
    """`key>=3`, `made<2024-01-01`, `maker=Acme`, `key="3"` for a text, `key` alone, or `!key`.

    Raises:
        FilterError: it is none of these.
    """
    typed = _TYPED.fullmatch(text)
    if typed is None:
        key = text.removeprefix("!").strip()
        if not key:
            raise FilterError(f"{text!r} names no key; a filter is key>=3, key=text, key or !key")
        return MetadataFilter(key=key, op="exists", value=not text.startswith("!"))
    key, op, value = typed["key"].strip(), _OPERATORS[typed["op"]], typed["value"].strip()
    if not key or not value:
        raise FilterError(f"{text!r} has no key or no value; a filter is key>=3 or key=text")
    return MetadataFilter(key=key, op=op, value=_value(value))


def _value(text: str) -> JsonValue:
    if text in {"true", "false"}:
        return text == "true"
    if _NUMBER.fullmatch(text):
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        try:
            return json.loads(text)
        except ValueError:
            raise FilterError(f"{text} is not a text in quotes") from None
    return text
