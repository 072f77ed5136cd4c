"""Turns filters in Lucene's syntax into OpenSearch queries; the text itself never reaches it.

`grammar` parses; what is let through is words, phrases, ranges, AND, OR, NOT and groups over the
fields that the indexes declare. Whatever else the syntax knows (regular expressions, fuzziness,
boosts, proximity) is refused by name.
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX

if TYPE_CHECKING:
    from backend.search.grammar import Node

MAX_CHARS = 4096
MAX_DEPTH = 20
FIELDS = frozenset((*ASSET_INDEX.all_fields, *FILE_INDEX.all_fields, "_rectype"))
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
    from backend.search.grammar import FilterSyntaxError, parse  # noqa: PLC0415

    try:
        tree = parse(text)
    except FilterSyntaxError as error:
        raise InvalidInputError.of(field, f"is not a filter: {error}") from None
    _demand_shallow(tree, field)
    return _Translation(field, text).translate(tree, None)


def leaves(query: JsonObject) -> Iterator[JsonObject]:
    """The conditions that `filter_query` has put together."""
    if "bool" not in query:
        yield query
        return
    for part in query["bool"].values():
        for each in cast("list[JsonObject]", part if isinstance(part, list) else []):
            yield from leaves(each)


def _demand_shallow(tree: "Node", field: str) -> None:
    """Refuse a syntax tree in which Python would run out of its stack."""
    level, depth = [tree], 0
    while level := [child for node in level for child in _nodes(node)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise InvalidInputError.of(field, f"is nested deeper than {MAX_DEPTH} levels")


def _nodes(node: "Node") -> list["Node"]:
    """The children of a node that are no tokens."""
    return [child for child in node.children if not isinstance(child, str)]


class _Translation:
    """Walks the syntax tree of a text; `field` names the filter in errors."""

    def __init__(self, field: str, text: str) -> None:
        self._field = field
        self._text = text
        self._known: dict[str, Callable[[Node, str | None], JsonObject]] = {
            "field": self._search_field,
            "group": self._same,
            "required": self._same,
            "all_of": self._all,
            "any_of": self._any,
            "none_of": self._none,
            "word": self._word,
            "phrase": self._phrase,
            "range": self._range,
            "comparison": self._comparison,
        }

    def translate(self, node: "Node", name: str | None) -> JsonObject:
        if node.data not in self._known:
            kind = node.data.replace("_", " ")
            raise self._refused(f"{kind} in {self._shown(node)} is not supported")
        return self._known[node.data](node, name)

    def _search_field(self, node: "Node", _: str | None) -> JsonObject:
        name = str(node.children[0]).removesuffix(".keyword")
        if name not in FIELDS:
            raise self._refused(f"{name!r:.{_SHOWN_CHARS}} is not a field of the indexes")
        return self._same(node, name)

    def _same(self, node: "Node", name: str | None) -> JsonObject:
        (child,) = _nodes(node)
        return self.translate(child, name)

    def _all(self, node: "Node", name: str | None) -> JsonObject:
        return {"bool": {"filter": self._children(node, name)}}

    def _any(self, node: "Node", name: str | None) -> JsonObject:
        children = self._children(node, name)
        return {"bool": {"should": children, "minimum_should_match": 1}}

    def _none(self, node: "Node", name: str | None) -> JsonObject:
        return {"bool": {"must_not": self._children(node, name)}}

    def _children(self, node: "Node", name: str | None) -> list[JsonObject]:
        return [self.translate(child, name) for child in _nodes(node)]

    def _word(self, node: "Node", name: str | None) -> JsonObject:
        field, value = self._demand_field(name, node), str(node.children[0])
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

    def _phrase(self, node: "Node", name: str | None) -> JsonObject:
        return self._value(self._demand_field(name, node), _text_of(node))

    def _value(self, field: str, value: str) -> JsonObject:
        if field.endswith(".keyword"):
            return {"term": {field: {"value": value, "case_insensitive": True}}}
        return {"term": {field: {"value": self._typed(field, value)}}}

    def _range(self, node: "Node", name: str | None) -> JsonObject:
        low, high = _nodes(node)
        over = "gte" if node.children[0] == "[" else "gt"
        under = "lte" if node.children[-1] == "]" else "lt"
        return self._bounded(name, {over: low, under: high}, node)

    def _comparison(self, node: "Node", name: str | None) -> JsonObject:
        (value,) = _nodes(node)
        word = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}[str(node.children[0])]
        return self._bounded(name, {word: value}, node)

    def _bounded(self, name: str | None, bounds: dict[str, "Node"], node: "Node") -> JsonObject:
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

    def _demand_field(self, name: str | None, node: "Node") -> str:
        """The field as it is asked: what holds whole values of it."""
        if name is None:
            raise self._refused(f"{self._shown(node)} names no field (field:value)")
        return f"{name}.keyword" if name.startswith(_KEYWORD_PREFIXES) else name

    def _refused(self, fact: str) -> InvalidInputError:
        return InvalidInputError.of(self._field, fact)

    def _shown(self, node: "Node") -> str:
        """The part of the text that a node was read from."""
        return f"{self._text[node.meta.start_pos : node.meta.end_pos]!r:.{_SHOWN_CHARS}}"


def _text_of(node: "Node") -> str:
    """What a word, a phrase, or one of them behind a minus, says."""
    if node.data == "minus":
        return f"-{_text_of(_nodes(node)[0])}"
    value = str(node.children[0])
    return _unescaped(value[1:-1] if node.data == "phrase" else value)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)
