"""Turns filters in Lucene's syntax into OpenSearch queries; the text itself never reaches it.

luqum parses; what is let through is words, phrases, ranges, AND, OR, NOT and groups over the fields
that the indexes declare. Whatever else the syntax knows (regular expressions, fuzziness, boosts,
proximity) is refused by name.
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, cast

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX

MAX_CHARS = 4096
MAX_DEPTH = 20
FIELDS = frozenset((*ASSET_INDEX.fields, *FILE_INDEX.fields, "_rectype"))
_KEYWORD_PREFIXES = ("str_", "list_")
_TYPED_PREFIXES = ("num_", "bool_", "date_")
_NUMBER = re.compile(r"[+-]?[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,3})?")
_LEAST, _MOST = -(2**63), 2**63 - 1
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SHOWN_CHARS = 80


def filter_query(entry: JsonObject, *, field: str) -> JsonObject:
    """The query of one filter, `{"query_string": {"query": "str_fileext:.glb"}}`.

    Raises:
        InvalidInputError: naming `field` and what is not understood.
    """
    asked: object = entry.get("query_string")
    text = cast("JsonObject", asked).get("query") if isinstance(asked, dict) else None
    if len(entry) != 1 or not isinstance(text, str) or not text.strip():
        raise InvalidInputError.of(field, 'must be {"query_string": {"query": "…"}}')
    if len(text) > MAX_CHARS:
        raise InvalidInputError.of(field, f"is longer than {MAX_CHARS} characters")
    # Imported here because most requests can do without the time that it takes.
    from luqum import thread  # noqa: PLC0415
    from luqum.exceptions import ParseError  # noqa: PLC0415

    parse = cast("Callable[[str], Any]", thread.parse)

    try:
        tree = parse(text)
    except (ParseError, ValueError) as error:
        raise InvalidInputError.of(field, f"is not a filter: {error}") from None
    except ArithmeticError:  # what follows `~` or `^` is no number
        raise InvalidInputError.of(field, "is not a filter: ~ and ^ are not supported") from None
    _demand_shallow(tree, field)
    return _Translation(field).translate(tree, None)


def leaves(query: JsonObject) -> Iterator[JsonObject]:
    """The conditions that `filter_query` has put together."""
    if "bool" not in query:
        yield query
        return
    for part in query["bool"].values():
        for each in cast("list[JsonObject]", part if isinstance(part, list) else []):
            yield from leaves(each)


def _demand_shallow(tree: Any, field: str) -> None:
    """Refuse a syntax tree in which Python would run out of its stack."""
    level, depth = [tree], 0
    while level := [child for node in level for child in node.children]:
        depth += 1
        if depth > MAX_DEPTH:
            raise InvalidInputError.of(field, f"is nested deeper than {MAX_DEPTH} levels")


class _Translation:
    """Walks a syntax tree; `field` names the filter in errors."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._known: dict[str, Callable[[Any, str | None], JsonObject]] = {
            "SearchField": self._search_field,
            "Group": self._group,
            "FieldGroup": self._group,
            "AndOperation": self._all,
            "UnknownOperation": self._all,
            "OrOperation": self._any,
            "Not": self._none,
            "Prohibit": self._none,
            "Plus": self._group_of_one,
            "Word": self._word,
            "Phrase": self._phrase,
            "Range": self._range,
            "From": self._open_range,
            "To": self._open_range,
        }

    def translate(self, node: Any, name: str | None) -> JsonObject:
        kind = type(node).__name__
        if kind not in self._known:
            raise self._refused(f"{kind} in {_shown(node)} is not supported")
        return self._known[kind](node, name)

    def _search_field(self, node: Any, _: str | None) -> JsonObject:
        name = str(node.name).removesuffix(".keyword")
        if name not in FIELDS:
            raise self._refused(f"{name!r} is not a field of the indexes")
        return self.translate(node.expr, name)

    def _group(self, node: Any, name: str | None) -> JsonObject:
        return self.translate(node.expr, name)

    def _group_of_one(self, node: Any, name: str | None) -> JsonObject:
        return self.translate(node.a, name)

    def _all(self, node: Any, name: str | None) -> JsonObject:
        return {"bool": {"filter": self._children(node, name)}}

    def _any(self, node: Any, name: str | None) -> JsonObject:
        children = self._children(node, name)
        return {"bool": {"should": children, "minimum_should_match": 1}}

    def _none(self, node: Any, name: str | None) -> JsonObject:
        return {"bool": {"must_not": [self.translate(node.a, name)]}}

    def _children(self, node: Any, name: str | None) -> list[JsonObject]:
        return [self.translate(child, name) for child in node.children]

    def _word(self, node: Any, name: str | None) -> JsonObject:
        field, value = self._demand_field(name, node), str(node.value)
        if value == "*":
            return {"exists": {"field": field}}
        if value.startswith(("*", "?")):
            raise self._refused(f"{value!r:.{_SHOWN_CHARS}} begins with a wildcard")
        plain = _ESCAPE.sub("", value)
        if "*" not in plain and "?" not in plain:
            return self._value(field, _unescaped(value))
        if field.startswith(_TYPED_PREFIXES):
            raise self._refused(f"{field} takes no wildcards")
        return {"wildcard": {field: {"value": value, "case_insensitive": True}}}

    def _phrase(self, node: Any, name: str | None) -> JsonObject:
        return self._value(self._demand_field(name, node), _text_of(node))

    def _value(self, field: str, value: str) -> JsonObject:
        if field.endswith(".keyword"):
            return {"term": {field: {"value": value, "case_insensitive": True}}}
        return {"term": {field: {"value": self._typed(field, value)}}}

    def _range(self, node: Any, name: str | None) -> JsonObject:
        low = "gte" if node.include_low else "gt"
        high = "lte" if node.include_high else "lt"
        return self._bounded(name, {low: node.low, high: node.high}, node)

    def _open_range(self, node: Any, name: str | None) -> JsonObject:
        word = "gt" if type(node).__name__ == "From" else "lt"
        bound = word + ("e" if node.include else "")
        return self._bounded(name, {bound: node.a}, node)

    def _bounded(self, name: str | None, bounds: dict[str, Any], node: Any) -> JsonObject:
        field = self._demand_field(name, node)
        if not field.startswith(("num_", "date_")):
            raise self._refused(f"{field.removesuffix('.keyword')} has no ranges")
        texts = {word: _text_of(bound) for word, bound in bounds.items()}
        known = {word: self._typed(field, text) for word, text in texts.items() if text != "*"}
        return {"range": {field: known}}

    def _typed(self, field: str, value: str) -> str:
        """A value that OpenSearch takes for the field, which it would refuse without naming it."""
        if field.startswith("num_"):
            if not _NUMBER.fullmatch(value) or not _LEAST <= Decimal(value) <= _MOST:
                told = f"{value!r:.{_SHOWN_CHARS}} is not a number from {_LEAST} to {_MOST}"
                raise self._refused(f"{field}: {told}")
        elif field.startswith("bool_"):
            value = value.lower()
            if value not in {"true", "false"}:
                raise self._refused(f"{field} is true or false, not {value!r:.{_SHOWN_CHARS}}")
        return value

    def _demand_field(self, name: str | None, node: Any) -> str:
        """The field as it is asked: what holds whole values of it."""
        if name is None:
            raise self._refused(f"{_shown(node)} names no field (field:value)")
        return f"{name}.keyword" if name.startswith(_KEYWORD_PREFIXES) else name

    def _refused(self, fact: str) -> InvalidInputError:
        return InvalidInputError.of(self._field, fact)


def _text_of(node: Any) -> str:
    """What a word, a phrase, or one of them behind a minus, says."""
    if type(node).__name__ == "Prohibit":
        return f"-{_text_of(node.a)}"
    value = str(node.value)
    return _unescaped(value[1:-1] if type(node).__name__ == "Phrase" else value)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _shown(node: Any) -> str:
    return f"{str(node)!r:.{_SHOWN_CHARS}}"
