"""Metadata queries in the syntax of VAMS clients: `MD_str_maker:Acme AND parts:1*`. Pure.

A key may have the prefixes that VAMS gives to fields: `MD_` for metadata, `AB_` for file
attributes, and one of `TYPE_PREFIXES`. It matches the key as sent and the key without prefixes,
because `num_parts` may be a real key. Without `MD_` and `AB_`, it matches both kinds.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.letters import any_of, equals, matches
from backend.search.query.pairs import METADATA, nested_query
from backend.search.query.words import inner_query, split_words
from backend.search.values import is_inexact, number_of
from backend.spec.facts import FACT_PREFIX
from backend.spec.search_indexes import ATTRIBUTES

Mode = Literal["key", "value", "both"]
TYPE_PREFIXES = ("str_", "num_", "bool_", "date_", "list_", "gp_", "gs_")
PATH_PREFIXES = {"MD_": METADATA, "AB_": ATTRIBUTES}
_PATHS: tuple[str, ...] = (METADATA, ATTRIBUTES)
# Each becomes up to a dozen conditions (keys with and without prefixes, two paths).
MAX_ELEMENTS = 100
# Length of a part of a value. OpenSearch creates a condition for every three characters.
MAX_PART_CHARS = 100
# Patterns with wildcards in one request. Each may scan all terms of a field.
MAX_WILDCARDS = 10
# Colons of an element that are tried as the end of the key. Keys and values may contain colons.
MAX_COLONS = 5
# `*` and `?` in one pattern. More make OpenSearch's automaton too large.
MAX_PATTERN_WILDCARDS = 30
_FIELD = "metadataQuery"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_QUOTED_OR_COLON = re.compile(r'"(?:[^"\\]|\\.)*"|(:)')
_QUOTED_OR_OPERATOR = re.compile(r'"(?:[^"\\]|\\.)*"|(?:^|(?<=\s))(AND|OR)(?=\s|$)')


class Key(NamedTuple):
    """A key of a request: the keys that it matches, by their nested path."""

    sent: str
    names: Mapping[str, tuple[str, ...]]


def key_of(sent: str) -> Key:
    """Return what a key matches, with or without the prefixes of VAMS.

    A key that begins with `fact_` is a fact, unless `MD_` precedes it.
    """
    paths = _PATHS
    names = [sent]
    for prefix, path in PATH_PREFIXES.items():
        rest = sent.removeprefix(prefix).removeprefix(".")
        if sent.startswith(prefix) and rest:
            paths = (path,)
            names.append(rest)
    for prefix in TYPE_PREFIXES:
        rest = names[-1].removeprefix(prefix)
        if rest != names[-1] and rest:
            names.append(rest)
            break
    by_path = dict.fromkeys(paths, tuple(names))
    if METADATA in by_path and ATTRIBUTES in by_path:
        # Anyone can give metadata the name of a fact; only the product writes attributes of it.
        others = tuple(name for name in names if not name.lower().startswith(FACT_PREFIX))
        by_path = (
            {METADATA: others, ATTRIBUTES: tuple(names)} if others else {ATTRIBUTES: tuple(names)}
        )
    return Key(sent, by_path)


def pair_query(key: Key | None, value: str | None, *, literal: bool = False) -> JsonObject:
    """Return the query for documents with a pair of this key and this value.

    Case is ignored; `*` and `?` are wildcards in both, unless `literal`.
    """
    should: list[JsonObject] = []
    for path in _PATHS if key is None else key.names:
        filters: list[JsonObject] = []
        if key is not None:
            filters.append(key_condition(path, key))
        if value is not None:
            # The value as text, or as the number or boolean that is stored.
            whole = exact(f"{path}.string", value, literal=literal)
            filters.append(any_of([whole, *_typed_values(path, value)]))
        should.append(nested_query(path, {"bool": {"filter": filters}}))
    return any_of(should)


def key_condition(path: str, key: Key) -> JsonObject:
    """Return the condition that a pair has one of the names."""
    return any_of([exact(f"{path}.key", name) for name in key.names[path]])


def part_query(text: str, key: Key | None = None) -> JsonObject:
    """Return the query for documents with a value that contains the text, or all its words."""
    if is_pattern(text):
        return pair_query(key, text)
    should: list[JsonObject] = []
    for path in _PATHS if key is None else key.names:
        conditions = [] if key is None else [key_condition(path, key)]
        parts = _typed_values(path, text)
        if len(text) <= MAX_PART_CHARS:
            parts.append(inner_query(f"{path}.string", text))
        if split_words(text) or not parts:
            match = {"query": text, "operator": "and"}
            parts.append({"match": {f"{path}.string.text": match}})
        should.append(nested_query(path, all_of([*conditions, any_of(parts)])))
    return any_of(should)


def metadata_query(text: str, mode: Mode) -> JsonObject:
    """Return the query of elements joined by `AND` and `OR`, of which AND binds closer.

    An element is `key:value`. One without a colon is a key in the mode `key`, a part of a value in
    the mode `value`, and either of them in the mode `both`. `key:` matches an empty value: the web
    application of VAMS sends it before a user has typed a value.

    Raises:
        InvalidInputError: there are too many elements or wildcards, or one of them is invalid.
    """
    groups = _groups(text)
    count = sum(map(len, groups))
    if count > MAX_ELEMENTS:
        message = f"has {count} elements; at most {MAX_ELEMENTS} are allowed"
        raise InvalidInputError.of(_FIELD, message)
    wildcards = 0
    alternatives: list[JsonObject] = []
    for group in groups:
        elements = [_element(element, mode) for element in group]
        wildcards += sum(element.wildcards for element in elements)
        alternatives.append(all_of([element.query for element in elements]))
    if wildcards > MAX_WILDCARDS:
        message = (
            f"has {wildcards} wildcards and parts of values; at most {MAX_WILDCARDS} are allowed"
        )
        raise InvalidInputError.of(_FIELD, message)
    return any_of(alternatives)


def is_pattern(value: str) -> bool:
    return "*" in value or "?" in value


def wildcards_in(pattern: str) -> int:
    return pattern.count("*") + pattern.count("?")


def require_few_wildcards(pattern: str, *, field: str) -> None:
    """Refuse a pattern with more than `MAX_PATTERN_WILDCARDS` wildcards.

    Raises:
        InvalidInputError: it has more; the message names `field`.
    """
    count = wildcards_in(pattern)
    if count > MAX_PATTERN_WILDCARDS:
        fact = (
            f"has a pattern with {count} wildcards (* and ?); at most {MAX_PATTERN_WILDCARDS} are "
            "allowed"
        )
        raise InvalidInputError.of(field, fact)


def all_of(queries: list[JsonObject]) -> JsonObject:
    """Return the query for documents that all of the queries find."""
    return queries[0] if len(queries) == 1 else {"bool": {"filter": queries}}


class _Element(NamedTuple):
    query: JsonObject
    wildcards: int


def _element(text: str, mode: Mode) -> _Element:
    if not text:
        raise InvalidInputError.of(
            _FIELD, "AND and OR need an element on both sides, as in key:value AND key:value"
        )
    alone = _unquote(text.strip(": "))
    if mode != "both" and not alone:
        raise InvalidInputError.of(_FIELD, f"{quoted(text)} is not a {mode}")
    require_few_wildcards(_QUOTED.sub("", text), field=_FIELD)
    # Keys and values may contain colons, too.
    colons = [match.start() for match in _QUOTED_OR_COLON.finditer(text) if match[1]]
    sent = [(text[:at].strip(), text[at + 1 :].strip()) for at in colons[:MAX_COLONS]]
    pairs = [
        _Pair(_unquote(key), _unquote(value), _unquote(value) != value)
        for key, value in sent
        if key
    ]
    if mode == "both" and not pairs and ":" in _QUOTED.sub("", text):
        raise InvalidInputError.of(_FIELD, f"{quoted(text)} is not key:value")
    if mode != "both":  # here `key:` is a key or a value, not a pair with an empty value
        pairs = [pair for pair in pairs if pair.value]
    queries = [pair_query(key_of(pair.key), pair.value, literal=pair.is_quoted) for pair in pairs]
    wildcards = max((pair.wildcards for pair in pairs), default=0)
    if mode == "key" or (mode == "both" and not pairs):
        queries.append(pair_query(key_of(alone), None))
        wildcards += is_pattern(alone)
    if mode == "value" or (mode == "both" and not pairs):
        queries.append(part_query(alone))
        wildcards = wildcards + 1 if pairs else 1
    return _Element(any_of(queries), wildcards)


class _Pair(NamedTuple):
    """A key and a value in an element of a query. A quoted value has no wildcards."""

    key: str
    value: str
    is_quoted: bool

    @property
    def wildcards(self) -> int:
        return is_pattern(self.key) + (is_pattern(self.value) and not self.is_quoted)


def _groups(text: str) -> list[list[str]]:
    """Return the alternatives of a text, each with the elements that must all match."""
    parts: list[list[str]] = [[]]
    start = 0
    for match in _QUOTED_OR_OPERATOR.finditer(text):
        operator = match[1]
        if operator is None:
            continue
        parts[-1].append(text[start : match.start()])
        start = match.end()
        if operator == "OR":
            parts.append([])
    parts[-1].append(text[start:])
    return [[element.strip() for element in part] for part in parts]


def _unquote(value: str) -> str:
    if len(value) > 1 and value.startswith('"') and value.endswith('"'):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def _typed_values(path: str, value: str) -> list[JsonObject]:
    terms: list[JsonObject] = []
    if value.lower() in {"true", "false"}:
        terms.append({"term": {f"{path}.boolean": value.lower() == "true"}})
    number = number_of(value)
    # A larger whole number is compared as a text only, which is exact.
    if number is not None and not is_inexact(value):
        terms.append({"term": {f"{path}.number": number}})
    return terms


def exact(field: str, value: str, *, literal: bool = False) -> JsonObject:
    """Return a condition on a whole value without regard to case, or a pattern with `*` or `?`."""
    return matches(field, value) if is_pattern(value) and not literal else equals(field, value)
