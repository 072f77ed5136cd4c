"""Conditions on the fields of the indexes, in filters. Pure: no I/O.

Text fields are compared by words, and `<field>.keyword` by the whole value. Fields with ids and
names of types are always compared as a whole.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.letters import any_of, equals, fold, matches, rewrite_literals, spellings
from backend.search.query.metadata_text import (
    MAX_PATTERN_WILDCARDS,
    MAX_WILDCARDS,
    PATH_PREFIXES,
    Key,
    key_condition,
    key_of,
    pair_query,
    wildcards_in,
)
from backend.search.query.pairs import METADATA, nested_query
from backend.search.query.words import TEXT_FIELDS, split_words, whole_word_query
from backend.search.values import inexact_fact, is_inexact, iso_date, number_of
from backend.spec.facts import FACT_PREFIX
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, INNER_FIELDS, RECORD_TYPE

# Conditions in all filters of one request. With a hundred thousand OpenSearch runs out of memory.
MAX_CONDITIONS = 1000
# Filters without a field in one request. Each becomes a condition per searched field.
MAX_WORD_FILTERS = 50
FIELDS = frozenset((*ASSET_INDEX.all_fields, *FILE_INDEX.all_fields, "_rectype"))
ANALYSED = frozenset((*INNER_FIELDS, "str_asset_version_comment"))
"""Fields that are compared word by word."""
_DOTTED = frozenset({"str_fileext", "str_assettype"})
"""Fields whose values begin with a dot, which users may omit."""
KEYWORD = ".keyword"
_KEYWORD_PREFIXES = ("str_", "list_")
_TYPED_PREFIXES = ("num_", "bool_", "date_")
_NUMBER = re.compile(r"[+-]?[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,3})?")
# The range of `long` in OpenSearch, which is the type of `num_` fields.
_LEAST, _MOST = -(2**63), 2**63 - 1
_DATE = re.compile(
    r"\d{4}(-\d{2}(-\d{2}(T\d{2}(:\d{2}(:\d{2}([.,]\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?",
    re.ASCII,
)
_YEAR = re.compile(r"\d{4}", re.ASCII)
_NOW = re.compile(r"now([+-]\d{1,4}[yMwdhHms])*(/[yMwdhHms])?", re.ASCII)
_MILLISECONDS = re.compile(r"-?\d{5,13}", re.ASCII)


class ConditionError(ValueError):
    """A search condition is invalid or not allowed; the message gives the reason."""


@dataclass
class Budget:
    """Counts the conditions in all filters of one request."""

    conditions: int = 0
    wildcards: int = 0
    words: int = 0

    def spend(self, *, wildcards: int = 0, words: int = 0) -> None:
        """Count one condition.

        Raises:
            InvalidInputError: the filters have more conditions than a request may have.
        """
        self.conditions += 1
        self.wildcards += wildcards
        self.words += words
        for count, most, what in (
            (self.conditions, MAX_CONDITIONS, "conditions"),
            (self.wildcards, MAX_WILDCARDS, "wildcards"),
            (self.words, MAX_WORD_FILTERS, "words without a field name"),
        ):
            if count > most:
                message = f"has {count} {what} or more; at most {most} are allowed"
                raise InvalidInputError.of("filters", message)


def known_field(name: str) -> str:
    """Return the name of a field, if filters may name it.

    Raises:
        ConditionError: the name is neither a field of the indexes nor a metadata key, or it is a
            key with too many wildcards.
    """
    if name.removesuffix(KEYWORD) == RECORD_TYPE:
        return "_rectype"  # which indexes of earlier mapping versions have as well
    if name.removesuffix(KEYWORD) in FIELDS:
        return name
    if is_key(name):
        return _few_wildcards(name)
    raise ConditionError(f"{quoted(name)} is not a field of the search indexes")


def is_key(name: str) -> bool:
    """Return whether the name is that of a metadata key, or of a file attribute."""
    return any(name.startswith(prefix) and name != prefix for prefix in _KEY_PREFIXES)


_KEY_PREFIXES = (*PATH_PREFIXES, f"{METADATA}.", FACT_PREFIX)


def exists(name: str) -> JsonObject:
    """Return the condition that a document has a value of the field."""
    if is_key(name):
        return pair_query(_key(name), None)
    return {"exists": {"field": _whole_field(name)}}


def equal(name: str | None, value: str) -> JsonObject:
    """Return the condition that a field equals the value: by words, or as a whole.

    Raises:
        ConditionError: the field has values of another type.
    """
    if name is None:
        return whole_word_query(value)
    if is_key(name):
        return pair_query(_key(name), value, literal=True)
    if name in ANALYSED and split_words(value):
        spelt = spellings(value)
        return any_of([{"match": {name: {"query": form, "operator": "and"}}} for form in spelt])
    field = _whole_field(name)
    if field.endswith(KEYWORD):
        dotted = [f".{value}"] if _lacks_dot(name, value) else []
        return any_of([equals(field, form) for form in (value, *dotted)])
    return {"term": {field: {"value": _convert_value(field, value)}}}


def like(name: str | None, pattern: str) -> JsonObject:
    """Return the condition that a value matches a pattern with `*` and `?`.

    Raises:
        ConditionError: the field contains numbers, dates or booleans, or the pattern has too many
            wildcards.
    """
    _few_wildcards(pattern)
    if name is None:
        fields = [field.partition("^")[0] for field in TEXT_FIELDS]
        return any_of([query for field in fields for query in _words_like(field, pattern)])
    if is_key(name):
        return pair_query(_key(name), pattern)
    if name.startswith(_TYPED_PREFIXES):
        raise ConditionError(f"{name} does not support wildcards")
    patterns = [pattern, f".{pattern}"] if _lacks_dot(name, pattern) else [pattern]
    whole = [matches(_whole_field(name), form) for form in patterns]
    return any_of([*(_words_like(name, pattern) if name in ANALYSED else []), *whole])


def in_bounds(name: str | None, bounds: dict[str, str]) -> JsonObject:
    """Return the condition that a number or date is within bounds (`gt`, `gte`, `lt`, `lte`).

    Raises:
        ConditionError: the field has no order, or a bound is not a value of its type.
    """
    if name is None:
        raise ConditionError("a range requires a field name, as in field:[a TO b]")
    if is_key(name):
        return _bounded_pair(_key(name), bounds)
    if not name.startswith(("num_", "date_")):
        raise ConditionError(f"{name.removesuffix(KEYWORD)} does not support ranges")
    known = {word: _convert_value(name, text) for word, text in bounds.items()}
    return {"range": {name: known}}


def _bounded_pair(key: Key, bounds: dict[str, str]) -> JsonObject:
    if not bounds:
        return pair_query(key, None)
    ranges: dict[str, JsonObject] = {}
    for text in filter(is_inexact, bounds.values()):
        fact = f"{inexact_fact(text)}; use an approximate one such as 1e16"
        raise ConditionError(f"{key.sent}: {fact}")
    numbers = {word: number_of(text) for word, text in bounds.items()}
    if all(number is not None for number in numbers.values()):
        ranges["number"] = dict(numbers)
    if not ranges or all(_YEAR.fullmatch(text) for text in bounds.values()):  # 2026 may be both
        ranges["date"] = {word: _date(key.sent, text) for word, text in bounds.items()}
    return any_of(
        [
            nested_query(path, {"bool": {"filter": [key_condition(path, key), condition]}})
            for path in key.names
            for kind, known in ranges.items()
            for condition in [{"range": {f"{path}.{kind}": known}}]
        ]
    )


def _few_wildcards(pattern: str) -> str:
    count = wildcards_in(pattern)
    if count > MAX_PATTERN_WILDCARDS:
        fact = f"{count} wildcards (* and ?) in a pattern; at most {MAX_PATTERN_WILDCARDS}"
        raise ConditionError(f"{fact} are allowed")
    return pattern


def _key(name: str) -> Key:
    """Return the key of a field's name; `metadata.` means metadata, as `MD_` does."""
    rest = name.removeprefix(f"{METADATA}.")
    return key_of(name if rest == name else f"MD_{rest}")


def _whole_field(name: str) -> str:
    """Return the field that contains whole values."""
    bare = name.removesuffix(KEYWORD)
    return f"{bare}{KEYWORD}" if bare.startswith(_KEYWORD_PREFIXES) else bare


def _lacks_dot(name: str, value: str) -> bool:
    return name in _DOTTED and not value.startswith((".", "*", "?"))


def _words_like(field: str, pattern: str) -> list[JsonObject]:
    """Return queries for a word of an analysed field, as it is analysed."""
    composed, *decomposed = spellings(pattern)
    patterns = [
        rewrite_literals(composed, fold),
        *(rewrite_literals(form, str.lower) for form in decomposed),
    ]
    return [{"wildcard": {field: {"value": form}}} for form in patterns]


def _convert_value(field: str, value: str) -> str:
    """Convert a value to the type of the field."""
    # Checked here: the error of OpenSearch would not name the field.
    if field.startswith("num_"):
        if not _NUMBER.fullmatch(value) or not _LEAST <= Decimal(value) <= _MOST:
            fact = f"{quoted(value)} is not a number from {_LEAST} to {_MOST}"
            raise ConditionError(f"{field}: {fact}")
    elif field.startswith("bool_"):
        value = value.lower()
        if value not in {"true", "false"}:
            raise ConditionError(f"{field} must be true or false, not {quoted(value)}")
    elif field.startswith("date_"):
        return _date(field, value)
    return value


def _date(field: str, value: str) -> str:
    # Month, day and minutes may be omitted.
    day, mark, time = value.partition("T")
    day += "-01-01"[len(day) - 4 :] if len(day) < len("2026-03-01") else ""
    hours_alone = re.fullmatch(r"(\d{2})(Z|[+-].*)?", time)
    if hours_alone:
        time = f"{hours_alone[1]}:00{hours_alone[2] or ''}"
    is_date = _DATE.fullmatch(value) and iso_date(day + mark + time) is not None
    if is_date or _NOW.fullmatch(value) or _MILLISECONDS.fullmatch(value):
        return value
    fact = f"{quoted(value)} is not a date such as 2026-03-01, 2026-03-01T12:00Z or now-7d"
    raise ConditionError(f"{field}: {fact}")
