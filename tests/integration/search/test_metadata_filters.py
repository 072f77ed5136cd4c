"""Filters, facets and sorting by metadata on OpenSearch, compared with an evaluation in Python."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.core.search_engine import JsonObject
from backend.search.values import Record, typed_pairs
from tests.integration.search.conftest import Library, asset

EARTH_METERS = 6_371_008.7714
KEYS = ("height", "made", "place", "maker")

NUMBERS = ("-2", "0", "0.1", "3", "3.0", "1e300", "7", "soon")
DATES = (
    "2024",
    "2024-01-01",
    "2024-01-01T00:00:00.001Z",
    "2024-01-01T01:00:00+01:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "yesterday",
)
TEXTS = ("", "Acme", "acme", "Acme & Sons", "3", "true", "ß", "x" * 1000)
PLACES = (
    '{"type": "Point", "coordinates": [13.4, 52.5]}',
    '{"type": "Point", "coordinates": [179.9, -10]}',
    '{"type": "Point", "coordinates": [-179.9, -10]}',
    '{"type": "Point", "coordinates": [0, 90]}',
    '{"type": "Point"}',
)
VALUES = {"number": NUMBERS, "date": DATES, "string": TEXTS, "geopoint": PLACES}
RECORDS = st.one_of(
    *(
        st.builds(Record, st.sampled_from(KEYS), st.sampled_from(values), st.just(kind))
        for kind, values in VALUES.items()
    ),
    st.builds(
        Record, st.sampled_from(KEYS), st.sampled_from(("true", "False")), st.just("boolean")
    ),
)
DOCUMENTS = st.lists(
    st.lists(RECORDS, max_size=4, unique_by=lambda record: record.key), min_size=1, max_size=12
)

_numbers = st.sampled_from((-2, 0, 0.1, 3, 3.0, 5, 1e300))
_dates = st.sampled_from(DATES[:-1])
_bounds = st.one_of(_numbers, _dates)
_scalars = st.one_of(_numbers, st.booleans(), st.sampled_from(TEXTS))
_places = st.fixed_dictionaries(
    {
        "lat": st.sampled_from((52.4, -10, 89)),
        "lon": st.sampled_from((13.3, 180, -179.5)),
        "meters": st.sampled_from((1, 15_000, 200_000, 20_000_000)),
    }
)
_boxes = st.fixed_dictionaries(
    {
        "top": st.sampled_from((90, 53, -5)),
        "bottom": st.sampled_from((-6, -20)),
        "left": st.sampled_from((-180, 13, 170)),
        "right": st.sampled_from((180, 14, -170)),
    }
)
FILTERS = st.one_of(
    st.fixed_dictionaries({"op": st.just("eq"), "value": _scalars}),
    st.fixed_dictionaries({"op": st.just("eq"), "value": _dates, "type": st.just("date")}),
    st.fixed_dictionaries(
        {
            "op": st.just("in"),
            "value": st.one_of(
                st.lists(_numbers, min_size=1, max_size=3),
                st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3),
            ),
        }
    ),
    st.fixed_dictionaries({"op": st.sampled_from(("gt", "gte", "lt", "lte")), "value": _bounds}),
    st.fixed_dictionaries(
        {
            "op": st.just("between"),
            "value": st.one_of(
                st.lists(_numbers, min_size=2, max_size=2).map(sorted),
                st.lists(_dates, min_size=2, max_size=2).map(
                    lambda two: sorted(two, key=milliseconds)
                ),
            ),
        }
    ),
    st.fixed_dictionaries({"op": st.just("exists")}, optional={"value": st.booleans()}),
    st.fixed_dictionaries({"op": st.just("geoDistance"), "value": _places}),
    st.fixed_dictionaries({"op": st.just("geoBox"), "value": _boxes}),
)


def milliseconds(text: object) -> int:
    """A date in whole milliseconds, in which dates are compared."""
    whole = {4: f"{text}-01-01"}.get(len(str(text)), str(text))
    moment = datetime.fromisoformat(whole)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def meters(start: JsonObject, other: JsonObject) -> float:
    """The distance of two places on a sphere."""
    lat1, lon1, lat2, lon2 = (
        math.radians(place[name]) for place in (start, other) for name in ("lat", "lon")
    )
    chord = (
        math.sin((lat2 - lat1) / 2) ** 2
        + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    )
    return 2 * EARTH_METERS * math.asin(math.sqrt(min(1, chord)))


def lies_in(box: JsonObject, place: JsonObject) -> bool:
    if not box["bottom"] <= place["lat"] <= box["top"]:
        return False
    if box["left"] <= box["right"]:
        return box["left"] <= place["lon"] <= box["right"]
    return place["lon"] >= box["left"] or place["lon"] <= box["right"]


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "gt": lambda number, limit: number > limit,
    "gte": lambda number, limit: number >= limit,
    "lt": lambda number, limit: number < limit,
    "lte": lambda number, limit: number <= limit,
    "eq": lambda number, limit: number == limit,
}


def matches_value(pair: JsonObject, op: str, value: Any, kind: str | None) -> bool:
    if isinstance(value, bool):
        return pair.get("boolean") is value
    if isinstance(value, int | float):
        return "number" in pair and COMPARED[op](pair["number"], float(value))
    if op == "eq" and kind is None:
        return pair["string"] == value
    return "date" in pair and COMPARED[op](milliseconds(pair["date"]), milliseconds(value))


def holds(query: JsonObject, pairs: list[JsonObject]) -> bool:
    """Return whether a filter matches: a pair has the key and a matching value."""
    op, kind = query["op"], query.get("type")
    value: Any = query.get("value")
    of_key = [pair for pair in pairs if pair["key"] == query["key"]]
    if op == "exists":
        return bool(of_key) is (value is not False)
    for pair in of_key:
        point = cast("JsonObject | None", pair.get("point"))
        if op == "in":
            fits = any(matches_value(pair, "eq", option, kind) for option in value)
        elif op == "between":
            fits = matches_value(pair, "gte", value[0], kind) and matches_value(
                pair, "lte", value[1], kind
            )
        elif op == "geoDistance":
            fits = point is not None and meters(point, value) <= value["meters"]
        elif op == "geoBox":
            fits = point is not None and lies_in(value, point)
        else:
            fits = matches_value(pair, op, value, kind)
        if fits:
            return True
    return False


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(documents=DOCUMENTS, wanted=st.lists(st.tuples(st.sampled_from(KEYS), FILTERS), max_size=8))
def test_a_filter_finds_the_same_as_an_evaluation_of_the_documents(
    library: Library, documents: list[list[Record]], wanted: list[tuple[str, JsonObject]]
) -> None:
    pairs = {
        f"museum:a{number}": typed_pairs(document) for number, document in enumerate(documents)
    }
    bodies: dict[str, JsonObject] = {f"museum:a{number}": {} for number in range(12)}
    for number, name in enumerate(bodies):
        known = name in pairs
        bodies[name] = asset(f"a{number}", pairs.get(name, ()), deleted=not known)
    library.put(bodies)
    filters = [{"key": key, **request} for key, request in wanted]
    for request in filters:
        expected = {name for name, stored in pairs.items() if holds(request, stored)}
        assert library.ids(metadataFilters=[request], aggregations=False) == expected, request
    expected = {
        name
        for name, stored in pairs.items()
        if all(holds(condition, stored) for condition in filters)
    }
    assert library.ids(metadataFilters=filters, aggregations=False) == expected


def numbers(library: Library) -> None:
    values = (("a", "10"), ("b", "9"), ("c", "10"), ("d", None), ("e", "-1"))
    library.put(
        {
            f"museum:{name}": asset(
                name, typed_pairs([Record("height", value, "number")] if value else [])
            )
            for name, value in values
        }
    )


@pytest.mark.parametrize(
    ("kind", "order", "expected"),
    [
        ("number", "asc", "ebacd"),
        ("number", "desc", "acbed"),
        ("string", "asc", "ebacd"),  # numbers in texts are compared as numbers
        ("string", "desc", "acbed"),
    ],
)
def test_hits_are_ordered_by_a_metadata_key_and_those_without_it_come_last(
    library: Library, kind: str, order: str, expected: str
) -> None:
    numbers(library)
    sort = [{"metadata.height": {"order": order, "type": kind}}]
    hits = library.search(sort=sort)["hits"]["hits"]
    assert "".join(hit["_source"]["str_assetid"] for hit in hits) == expected


def test_a_facet_counts_the_values_of_a_metadata_key(library: Library) -> None:
    numbers(library)
    reply = library.search(metadataFacets=[{"key": "height", "size": 1}, {"key": "none"}])
    height, none = reply["metadataFacets"]
    assert (height["key"], height["documents"], height["others"]) == ("height", 4, 2)
    assert height["buckets"] == [{"key": "10", "doc_count": 2}]
    assert (height["number"]["min"], height["number"]["max"]) == (-1, 10)
    assert (none["documents"], none["buckets"]) == (0, [])
    assert "str_databaseid" in reply["aggregations"]


def test_a_facet_counts_only_what_the_filters_leave(library: Library) -> None:
    numbers(library)
    reply = library.search(
        metadataFilters=[{"key": "height", "op": "lt", "value": 10}],
        metadataFacets=[{"key": "height"}],
        aggregations=False,
    )
    (height,) = reply["metadataFacets"]
    assert {bucket["key"] for bucket in height["buckets"]} == {"9", "-1"}
    assert "aggregations" not in reply
