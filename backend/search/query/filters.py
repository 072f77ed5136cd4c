"""Turns filters into OpenSearch queries; the text itself never reaches OpenSearch.

`grammar` parses Lucene's syntax. Words, phrases, wildcards, ranges, `_exists_`, AND, OR, NOT and
groups are supported, over the declared fields of the indexes and metadata keys. Other syntax
(regular expressions, fuzziness, boosts, proximity) is rejected by name and column.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from backend.core.errors import InvalidInputError
from backend.core.names import valid_text
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.conditions import (
    ANALYSED,
    KEYWORD,
    Budget,
    ConditionError,
    equal,
    exists,
    in_bounds,
    is_key,
    known_field,
    like,
)
from backend.search.query.letters import any_of
from backend.search.query.metadata_text import is_pattern

if TYPE_CHECKING:
    from backend.search.query.grammar import Node

MAX_CHARS = 4096
MAX_DEPTH = 20
_EXISTS = "_exists_"
_BOUNDS = frozenset({"gt", "gte", "lt", "lte"})
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SHAPE = (
    'must be {"query_string": {"query": "…"}}, or one of term, terms, range and exists with one '
    "field"
)


def filter_query(entry: JsonObject, *, field: str, budget: Budget) -> JsonObject:
    """Return the query of one filter, `{"query_string": {"query": "str_fileext:.glb"}}`.

    Simple filters in OpenSearch's own form (`term`, `terms`, `range`, `exists`) are accepted as
    well.

    Raises:
        InvalidInputError: the message names `field` and the unsupported part.
    """
    if len(entry) != 1:
        raise InvalidInputError.of(field, _SHAPE)
    ((kind, definition),) = entry.items()
    if kind != "query_string":
        return _simple_filter(kind, definition, field, budget)
    text: object = (
        cast("JsonObject", definition).get("query") if isinstance(definition, dict) else None
    )
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError.of(field, _SHAPE)
    if not _is_text(text):
        raise InvalidInputError.of(field, "is not valid Unicode text")
    if len(text) > MAX_CHARS:
        fact = f"must have at most {MAX_CHARS} characters, but has {len(text)}"
        raise InvalidInputError.of(field, fact)
    # Imported here because it takes time and most requests do not need it.
    from backend.search.query.grammar import FilterSyntaxError, parse  # noqa: PLC0415

    try:
        tree = parse(text)
    except FilterSyntaxError as error:
        raise InvalidInputError.of(field, f"is not a valid filter: {error}") from None
    level, depth = [tree], 0
    # A deeper tree would exceed Python's recursion limit.
    while level := [child for node in level for child in _nodes(node)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise InvalidInputError.of(field, f"must not be nested deeper than {MAX_DEPTH} levels")
    return _Translation(field, text, budget).translate(tree, None)


def _simple_filter(kind: str, definition: object, field: str, budget: Budget) -> JsonObject:
    """Return a filter in OpenSearch's own form, about whole values of one field."""
    values = cast("JsonObject", definition) if isinstance(definition, dict) else {}
    if len(values) != 1:
        raise InvalidInputError.of(field, _SHAPE)
    ((name, value),) = values.items()
    if kind not in {"term", "terms", "range", "exists"}:
        raise InvalidInputError.of(field, _SHAPE)
    try:
        if kind == "exists" and name == "field" and isinstance(value, str):
            budget.spend()
            return exists(known_field(value))
        return _about(kind, known_field(name), value, field, budget)
    except ConditionError as error:
        raise InvalidInputError.of(field, str(error)) from None


def _about(kind: str, name: str, value: Any, field: str, budget: Budget) -> JsonObject:
    if kind == "term":
        term = cast("JsonObject", value).get("value") if isinstance(value, dict) else value
        listed: list[Any] = [term]
    elif kind == "terms" and isinstance(value, list) and value:
        listed = cast("list[Any]", value)
    elif kind == "range" and isinstance(value, dict) and value and value.keys() <= _BOUNDS:
        budget.spend()
        bounds = cast("JsonObject", value)
        return in_bounds(
            name.removesuffix(KEYWORD),
            {word: _scalar(bound, field) for word, bound in bounds.items()},
        )
    else:
        raise InvalidInputError.of(field, _SHAPE)
    # A term is a whole value, also of fields that query strings compare by words.
    whole = f"{name}{KEYWORD}" if name in ANALYSED else name
    conditions: list[JsonObject] = []
    for term in listed:
        budget.spend()
        conditions.append(equal(whole, _scalar(term, field)))
    return any_of(conditions)


def _scalar(value: object, field: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) or (isinstance(value, str) and _is_text(value)):
        return str(value)
    raise InvalidInputError.of(field, _SHAPE)


def _is_text(value: str) -> bool:
    """Return whether a text can be sent to OpenSearch: lone surrogates are not valid Unicode."""
    return valid_text(value) == value


def _nodes(node: "Node") -> list["Node"]:
    """Return the children of a node that are not tokens."""
    return [child for child in node.children if not isinstance(child, str)]


class _Translation:
    """Walks the syntax tree of a text; `field` names the filter in errors."""

    def __init__(self, field: str, text: str, budget: Budget) -> None:
        self._field = field
        self._text = text
        self._budget = budget
        self._known: dict[str, Callable[[Node, str | None], JsonObject]] = {
            "field": self._search_field,
            "group": self._same,
            "required": self._same,
            "all_of": self._all,
            "any_of": self._any,
            "none_of": self._none,
            "word": self._word,
            "phrase": lambda node, name: self._value(name, _text_of(node)),
            "range": self._range,
            "comparison": self._comparison,
        }

    def translate(self, node: "Node", name: str | None) -> JsonObject:
        if node.data not in self._known:
            kind = node.data.replace("_", " ")
            raise self._refusal(f"{kind} in {self._shown(node)} is not supported", node)
        try:
            return self._known[node.data](node, name)
        except ConditionError as error:
            raise self._refusal(str(error), node) from None

    def _search_field(self, node: "Node", _: str | None) -> JsonObject:
        name = _unescape(str(node.children[0]))
        (child,) = _nodes(node)
        if name == "*" == str(child.children[0]):  # `*:*` matches everything in Lucene
            return self._word(child, None)
        if name != _EXISTS:
            if is_key(name) and is_pattern(name):
                self._budget.spend(wildcards=1)
            return self._same(node, known_field(name))
        if child.data not in {"word", "phrase"}:
            raise ConditionError(f"{_EXISTS} requires a field name")
        self._budget.spend()
        return exists(known_field(_text_of(child)))

    def _same(self, node: "Node", name: str | None) -> JsonObject:
        (child,) = _nodes(node)
        return self.translate(child, name)

    def _all(self, node: "Node", name: str | None) -> JsonObject:
        filters: list[JsonObject] = []
        negated: list[JsonObject] = []
        # Together: OpenSearch evaluates each query of a negation only for all documents.
        for query in self._children(node, name):
            clauses: JsonObject = query.get("bool", {})
            negated += clauses["must_not"] if clauses.keys() == {"must_not"} else ()
            filters += () if clauses.keys() == {"must_not"} else (query,)
        parts = {"filter": filters, "must_not": negated}
        return {"bool": {clause: queries for clause, queries in parts.items() if queries}}

    def _any(self, node: "Node", name: str | None) -> JsonObject:
        children = self._children(node, name)
        return {"bool": {"should": children, "minimum_should_match": 1}}

    def _none(self, node: "Node", name: str | None) -> JsonObject:
        return {"bool": {"must_not": self._children(node, name)}}

    def _children(self, node: "Node", name: str | None) -> list[JsonObject]:
        return [self.translate(child, name) for child in _nodes(node)]

    def _word(self, node: "Node", name: str | None) -> JsonObject:
        value = str(node.children[0])
        if value == "*":
            self._budget.spend()
            return {"match_all": {}} if name is None else exists(name)
        plain = _ESCAPE.sub("", value)
        if "*" not in plain and "?" not in plain:
            return self._value(name, _unescape(value))
        self._budget.spend(wildcards=1)
        return like(name, value)

    def _value(self, name: str | None, value: str) -> JsonObject:
        self._budget.spend(words=int(name is None))
        return equal(name, value)

    def _range(self, node: "Node", name: str | None) -> JsonObject:
        low, high = _nodes(node)
        over = "gte" if node.children[0] == "[" else "gt"
        under = "lte" if node.children[-1] == "]" else "lt"
        return self._translate_bounds(name, {over: low, under: high})

    def _comparison(self, node: "Node", name: str | None) -> JsonObject:
        (value,) = _nodes(node)
        word = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}[str(node.children[0])]
        return self._translate_bounds(name, {word: value})

    def _translate_bounds(self, name: str | None, bounds: dict[str, "Node"]) -> JsonObject:
        self._budget.spend()
        texts = {word: _text_of(bound) for word, bound in bounds.items()}
        return in_bounds(name, {word: text for word, text in texts.items() if text != "*"})

    def _refusal(self, fact: str, node: "Node") -> InvalidInputError:
        return InvalidInputError.of(self._field, f"{fact} (column {node.meta.start_pos + 1})")

    def _shown(self, node: "Node") -> str:
        """Return the part of the text from which a node was parsed."""
        return quoted(self._text[node.meta.start_pos : node.meta.end_pos])


def _text_of(node: "Node") -> str:
    """Return the text of a word, of a phrase, or of one of them after a minus."""
    if node.data == "minus":
        return f"-{_text_of(_nodes(node)[0])}"
    value = str(node.children[0])
    return _unescape(value[1:-1] if node.data == "phrase" else value)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)
