"""Filters, facets and sorting by metadata, attributes and facts, each by one key and typed. Pure.

All are indexed as nested pairs: every query here matches key and value in the same pair. A value of
another type than requested does not match. A key `fact_triangles` names a fact, `AB_maker` a file
attribute, and any other key metadata (`pairs`).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.search.query.letters import any_of
from backend.search.query.models import (
    MAX_METERS,
    MIN_METERS,
    FilterOperator,
    MetadataFacet,
    MetadataFilter,
    MetadataType,
)
from backend.search.query.pairs import Named, pair_named
from backend.search.values import inexact_fact, is_inexact, iso_date
from backend.spec.search_indexes import SORT

# Alternative values of one filter; with 20 filters they may be 2,000 of the 4,096 conditions.
MAX_VALUES = 100
# As the guide says ("at most 20 equal intervals"); OpenSearch chooses the interval.
MAX_DATE_BUCKETS = 20

_RANGES = ("gt", "gte", "lt", "lte")
_COUNTS = ("doc_count", "assets")
COUNTED = "counted"
"""The part of a facet that is restricted by the selected values of other facets (`facets`)."""


class _Condition(NamedTuple):
    """A filter, the meaning of its key, and its place in the request for errors."""

    filter: MetadataFilter
    named: Named
    field: str

    @property
    def value(self) -> Any:
        return self.filter.value

    @property
    def type(self) -> MetadataType | None:
        """The type that the request or the fact declares."""
        return self.named.type or self.filter.type

    def refuse(self, message: str) -> InvalidInputError:
        return InvalidInputError.of(self.field, message)


def metadata_filter_query(metadata_filter: MetadataFilter, *, field: str) -> JsonObject:
    """Return the query of one filter; `field` names it in errors.

    Raises:
        InvalidInputError: the operator does not accept the value.
    """
    pairs = pair_named(metadata_filter.key, field=f"{field}.key")
    condition = _Condition(metadata_filter, pairs, f"{field}.value")
    if pairs.type is not None and metadata_filter.type not in {None, pairs.type}:
        raise InvalidInputError.of(
            f"{field}.type", f"{metadata_filter.key} has the type {pairs.type}"
        )
    if metadata_filter.op == "exists":
        wanted = True if metadata_filter.value is None else metadata_filter.value
        if not isinstance(wanted, bool):
            raise condition.refuse("exists takes true, false or no value")
        with_key = pairs.query()
        return with_key if wanted else {"bool": {"must_not": [with_key]}}
    return pairs.query(_CONDITIONS[metadata_filter.op](condition))


def pair_sort(pairs: Named, kind: MetadataType, order: str) -> JsonObject:
    """Sort documents by the value of a key; those without one come last."""
    kind = pairs.type or kind
    return {
        pairs.field(f"string.{SORT}" if kind == "string" else kind): {
            "order": order,
            "missing": "_last",
            "nested": {"path": pairs.path, "filter": {"term": {pairs.field("key"): pairs.key}}},
        }
    }


def facet_aggregation(facet: MetadataFacet, *, field: str) -> JsonObject:
    """Return the aggregation that counts the values of a key; `field` names it in errors."""
    pairs = pair_named(facet.key, field=field)
    counted: JsonObject = {
        "values": {"terms": {"field": pairs.field(pairs.type or "string"), "size": facet.size}}
    }
    if pairs.type in {None, "number"}:
        number = {"field": pairs.field("number")}
        counted["number"] = {"stats": number}
        if facet.ranges:
            ranges = [part.model_dump(by_alias=True, exclude_none=True) for part in facet.ranges]
            counted["ranges"] = {"range": {**number, "ranges": ranges}}
    if pairs.type == "date":  # those of metadata may be of too many years
        counted["dates"] = date_histogram(pairs.field("date"))
    of_key = {"filter": {"term": {pairs.field("key"): pairs.key}}, "aggs": counted}
    return {"nested": {"path": pairs.path}, "aggs": {"of_key": of_key}}


def date_histogram(field: str) -> JsonObject:
    return {"auto_date_histogram": {"field": field, "buckets": MAX_DATE_BUCKETS}}


def date_buckets(counted: JsonObject) -> list[JsonObject]:
    """Return the intervals of dates with their numbers of documents, and of assets if counted."""
    return [
        {
            "from": bucket["key_as_string"],
            "documents": bucket["doc_count"],
            **({"assets": bucket["assets"]} if "assets" in bucket else {}),
        }
        for bucket in counted["buckets"]
    ]


def facet_reply(key: str, counted: JsonObject) -> JsonObject:
    """Return the counts of a key's values in the form of a reply."""
    values, number = counted["values"], counted.get("number", {"count": 0})
    reply: JsonObject = {
        "key": key,
        "documents": counted["doc_count"],
        "buckets": [_bucket(bucket) for bucket in values["buckets"]],
        "others": values["sum_other_doc_count"],
        "error": values.get("doc_count_error_upper_bound", 0),
    }
    if "ranges" in counted:
        reply["ranges"] = [
            {name: bucket[name] for name in ("from", "to", *_COUNTS) if name in bucket}
            for bucket in counted["ranges"]["buckets"]
        ]
    dates = date_buckets(counted.get("dates", {"buckets": []}))
    if dates:
        reply["dates"] = dates
    if number["count"]:
        # A sum outside the range of numbers is the text "Infinity", and so is its mean.
        reply["number"] = {
            name: value for name, value in number.items() if not isinstance(value, str)
        }
    return reply


def _bucket(counted: JsonObject) -> JsonObject:
    """Return a value and its count; booleans as `true` and `false`, whole numbers without `.0`."""
    key: object = counted.get("key_as_string", counted["key"])
    if isinstance(key, float) and key.is_integer():
        key = int(key)
    return {"key": key, **{name: counted[name] for name in _COUNTS if name in counted}}


def _equal(condition: _Condition) -> JsonObject:
    name, value = _typed_value(condition, condition.value)
    return {"term": {name: {"value": value}}}


def _one_of(condition: _Condition) -> JsonObject:
    values = _list(condition, 1, MAX_VALUES)
    typed = [_typed_value(condition, value) for value in values]
    names = {name for name, _ in typed}
    if len(names) > 1:
        raise condition.refuse("the values have different types")
    return {"terms": {names.pop(): [value for _, value in typed]}}


def _range(condition: _Condition) -> JsonObject:
    name, value = _bound(condition, condition.value)
    return {"range": {name: {condition.filter.op: value}}}


def _between(condition: _Condition) -> JsonObject:
    bounds = [_bound(condition, value) for value in _list(condition, 2, 2)]
    (name, low), (other, high) = bounds
    if name != other:
        raise condition.refuse("the two values have different types")
    if low > high:
        raise condition.refuse("the first value must not be greater than the second")
    return {"range": {name: {"gte": low, "lte": high}}}


def _near(condition: _Condition) -> JsonObject:
    place = _coordinates(condition, {"lat": 90, "lon": 180, "meters": MAX_METERS})
    if place["meters"] < MIN_METERS:
        raise condition.refuse(f"meters must be at least {MIN_METERS}")
    distance = f"{place['meters']:.3f}m"
    near = {"distance": distance, _point(condition): {"lat": place["lat"], "lon": place["lon"]}}
    circle = {"type": "circle", "coordinates": [place["lon"], place["lat"]], "radius": distance}
    return any_of([{"geo_distance": near}, _touches(condition, circle)])


def _within(condition: _Condition) -> JsonObject:
    """Return the query for a box; if its left is east of its right, it crosses the date line."""
    box = _coordinates(condition, {"top": 90, "left": 180, "bottom": 90, "right": 180})
    # Checked here: the error of OpenSearch for a box without an area would not name the field.
    if box["top"] <= box["bottom"]:
        raise condition.refuse("top must be above bottom")
    if box["left"] == box["right"]:
        raise condition.refuse("left and right must differ")
    corners = {
        "top_left": {"lat": box["top"], "lon": box["left"]},
        "bottom_right": {"lat": box["bottom"], "lon": box["right"]},
    }
    places = [[box["left"], box["top"]], [box["right"], box["bottom"]]]
    envelope: JsonObject = {"type": "envelope", "coordinates": places}
    inside: JsonObject = {"geo_bounding_box": {_point(condition): corners}}
    return any_of([inside, _touches(condition, envelope)])


def _touches(condition: _Condition, area: JsonObject) -> JsonObject:
    """Return the query for shapes that have a place in an area."""
    field = condition.named.field("shape")
    # Indexes of earlier mapping versions have no shapes.
    return {
        "geo_shape": {field: {"shape": area, "relation": "intersects"}, "ignore_unmapped": True}
    }


def _point(condition: _Condition) -> str:
    if condition.named.type is not None:
        raise condition.refuse(
            f"{condition.filter.key} has the type {condition.named.type}, which is not a location"
        )
    return condition.named.field("point")


_CONDITIONS: Mapping[FilterOperator, Callable[[_Condition], JsonObject]] = {
    "eq": _equal,
    "in": _one_of,
    **dict.fromkeys(_RANGES, _range),
    "between": _between,
    "geoDistance": _near,
    "geoBox": _within,
}


def _typed_value(condition: _Condition, value: Any) -> tuple[str, Any]:
    """Return the field with values of the type, and the converted value."""
    kind = condition.type or _kind_of(condition, value)
    known = {"string": _text, "number": _number, "date": _date, "boolean": _boolean}
    return condition.named.field(kind), known[kind](condition, value)


def _bound(condition: _Condition, value: Any) -> tuple[str, Any]:
    kind = condition.type or _kind_of(condition, value)
    if kind == "number":
        return condition.named.field("number"), _number(condition, value)
    if kind == "boolean" or condition.type == "string":
        raise condition.refuse("ranges require numbers or dates")
    return condition.named.field("date"), _date(condition, value)


def _kind_of(condition: _Condition, value: Any) -> MetadataType:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    raise condition.refuse(f"{condition.filter.op} takes texts, numbers, true or false")


def _text(condition: _Condition, value: Any) -> str:
    if not isinstance(value, str):
        raise condition.refuse("must be a text")
    if len(value) > 1024 or "\u0000" in value:
        raise condition.refuse("a text can have at most 1024 characters, and no NUL")
    if not value.isprintable() and any("\ud800" <= char <= "\udfff" for char in value):
        raise condition.refuse("must be valid Unicode")
    return value


def _number(condition: _Condition, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise condition.refuse("must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise condition.refuse("is outside the range of numbers")
    if is_inexact(value):
        takes_text = condition.named.type is None and condition.filter.op in {"eq", "in"}
        as_text = 'compare it as a text (eq with type "string"), or ' if takes_text else ""
        raise condition.refuse(
            f"{inexact_fact(value)}; {as_text}send an approximate one such as 1e16"
        )
    return number + 0.0  # only one zero, as in documents: OpenSearch distinguishes -0 and 0


def _date(condition: _Condition, value: Any) -> str:
    """Complete a date with all its parts."""
    date = iso_date(value)
    if date is None:
        raise condition.refuse("must be an ISO 8601 date")
    seconds, _, fraction = date.removesuffix("+00:00").partition(".")
    # OpenSearch rounds a date whose parts are missing, and compares by milliseconds.
    return f"{seconds}.{(fraction + '000')[:3]}Z"


def _boolean(condition: _Condition, value: Any) -> bool:
    if not isinstance(value, bool):
        raise condition.refuse("must be true or false")
    return value


def _list(condition: _Condition, least: int, most: int) -> list[Any]:
    values: object = condition.value
    if not isinstance(values, list):
        raise condition.refuse(f"{condition.filter.op} takes a list")
    listed = cast("list[Any]", values)
    if not least <= len(listed) <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        raise condition.refuse(f"has {len(listed)} values; {expected} are allowed")
    return listed


def _coordinates(condition: _Condition, limits: Mapping[str, float]) -> dict[str, float]:
    values: object = condition.value
    sent = cast("JsonObject", values) if isinstance(values, dict) else {}
    if set(sent) != set(limits):
        raise condition.refuse(f"{condition.filter.op} takes {', '.join(limits)}")
    numbers = {name: _number(condition, sent[name]) for name in limits}
    for name, limit in limits.items():
        if abs(numbers[name]) > limit:
            raise condition.refuse(f"{name} must be between -{limit} and {limit}")
    return numbers
