"""Turns filters in Lucene's syntax into OpenSearch queries; the text itself never reaches it.

luqum parses; what is let through is words, phrases, ranges, AND, OR, NOT and groups over the fields
that the indexes declare. Whatever else the syntax knows (regular expressions, fuzziness, boosts,
proximity) is refused by name.
"""

from collections.abc import Callable
from typing import Any, cast

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX

MAX_CHARS = 4096
MAX_DEPTH = 20
FIELDS = frozenset((*ASSET_INDEX.fields, *FILE_INDEX.fields, "_rectype"))
_KEYWORD_PREFIXES = ("str_", "list_")


def filter_query(entry: JsonObject, *, field: str) -> JsonObject:
    """The query of one filter, `{"query_string": {"query": "str_fileext:.glb"}}`.

    Raises:
        InvalidInputError: naming `field` and what is not understood.
    """
    text = cast("JsonObject", entry.get("query_string") or {}).get("query")
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
    return _Translation(field).translate(tree, None, 0)


class _Translation:
    """Walks a syntax tree; `field` names the filter in errors."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._known: dict[str, Callable[[Any, str | None, int], JsonObject]] = {
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

    def translate(self, node: Any, name: str | None, depth: int) -> JsonObject:
        kind = type(node).__name__
        if depth > MAX_DEPTH:
            raise InvalidInputError.of(self._field, f"is nested deeper than {MAX_DEPTH} levels")
        if kind not in self._known:
            raise InvalidInputError.of(self._field, f"{kind} in {str(node)!r} is not supported")
        return self._known[kind](node, name, depth + 1)

    def _search_field(self, node: Any, _: str | None, depth: int) -> JsonObject:
        name = str(node.name).removesuffix(".keyword")
        if name not in FIELDS:
            raise InvalidInputError.of(self._field, f"{name!r} is not a field of the indexes")
        return self.translate(node.expr, name, depth)

    def _group(self, node: Any, name: str | None, depth: int) -> JsonObject:
        return self.translate(node.expr, name, depth)

    def _group_of_one(self, node: Any, name: str | None, depth: int) -> JsonObject:
        return self.translate(node.a, name, depth)

    def _all(self, node: Any, name: str | None, depth: int) -> JsonObject:
        return {"bool": {"filter": self._children(node, name, depth)}}

    def _any(self, node: Any, name: str | None, depth: int) -> JsonObject:
        children = self._children(node, name, depth)
        return {"bool": {"should": children, "minimum_should_match": 1}}

    def _none(self, node: Any, name: str | None, depth: int) -> JsonObject:
        return {"bool": {"must_not": [self.translate(node.a, name, depth)]}}

    def _children(self, node: Any, name: str | None, depth: int) -> list[JsonObject]:
        return [self.translate(child, name, depth) for child in node.children]

    def _word(self, node: Any, name: str | None, _: int) -> JsonObject:
        return self._value(name, str(node.value), str(node))

    def _phrase(self, node: Any, name: str | None, _: int) -> JsonObject:
        return self._value(name, str(node.value)[1:-1], str(node), is_phrase=True)

    def _value(
        self, name: str | None, value: str, shown: str, *, is_phrase: bool = False
    ) -> JsonObject:
        field = self._demand_field(name, shown)
        if field.startswith(_KEYWORD_PREFIXES):
            field += ".keyword"
        if not is_phrase and value == "*":
            return {"exists": {"field": field}}
        if not is_phrase and value.startswith(("*", "?")):
            raise InvalidInputError.of(self._field, f"{value!r} begins with a wildcard")
        if not is_phrase and ("*" in value or "?" in value):
            return {"wildcard": {field: {"value": value, "case_insensitive": True}}}
        if field.endswith(".keyword"):
            return {"term": {field: {"value": value, "case_insensitive": True}}}
        return {"term": {field: {"value": value}}}

    def _range(self, node: Any, name: str | None, _: int) -> JsonObject:
        low = "gte" if node.include_low else "gt"
        high = "lte" if node.include_high else "lt"
        bounds = {low: str(node.low.value).strip('"'), high: str(node.high.value).strip('"')}
        return self._bounded(name, bounds, str(node))

    def _open_range(self, node: Any, name: str | None, _: int) -> JsonObject:
        word = "gt" if type(node).__name__ == "From" else "lt"
        bound = word + ("e" if node.include else "")
        return self._bounded(name, {bound: str(node.a.value)}, str(node))

    def _bounded(self, name: str | None, bounds: dict[str, str], shown: str) -> JsonObject:
        field = self._demand_field(name, shown)
        if not field.startswith(("num_", "date_")):
            raise InvalidInputError.of(self._field, f"{field} has no ranges")
        return {"range": {field: {k: v for k, v in bounds.items() if v != "*"}}}

    def _demand_field(self, name: str | None, shown: str) -> str:
        if name is None:
            raise InvalidInputError.of(self._field, f"{shown!r} names no field (field:value)")
        return name
