"""The accepted values of each type: all well-formed ones, and no similar ones."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backend.core.metadata_values import (
    MAX_JSON_DEPTH,
    VALUE_TYPES,
    ValueType,
    check_key,
    check_value,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**30), 10**30)
_WRONG: list[object] = [None, True, False, "1", [], {}, [1]]
NOT_NUMBERS = st.sampled_from(_WRONG)
LONGITUDE = st.floats(-180, 180)
LATITUDE = st.floats(-90, 90)
POSITION = st.tuples(LONGITUDE, LATITUDE).map(list) | st.tuples(LONGITUDE, LATITUDE, FINITE).map(
    list
)
JSON = st.recursive(
    st.none() | st.booleans() | FINITE | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    max_leaves=20,
)


def geometry(kind: str, coordinates: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return coordinates.map(lambda value: {"type": kind, "coordinates": value})


RING = st.lists(POSITION, min_size=3, max_size=6).map(lambda ring: [*ring, ring[0]])
POLYGON = st.lists(RING, min_size=1, max_size=3)
LINE = st.lists(POSITION, min_size=2, max_size=6)
SIMPLE = st.one_of(
    geometry("Point", POSITION),
    geometry("MultiPoint", st.lists(POSITION, min_size=1)),
    geometry("LineString", LINE),
    geometry("MultiLineString", st.lists(LINE, min_size=1, max_size=3)),
    geometry("Polygon", POLYGON),
    geometry("MultiPolygon", st.lists(POLYGON, min_size=1, max_size=3)),
)
GEOMETRY = SIMPLE | st.lists(SIMPLE, min_size=1, max_size=3).map(
    lambda parts: {"type": "GeometryCollection", "geometries": parts}
)


def feature(shape: object, properties: object) -> dict[str, object]:
    return {"type": "Feature", "geometry": shape, "properties": properties}


def collection(features: list[dict[str, object]]) -> dict[str, object]:
    return {"type": "FeatureCollection", "features": features}


FEATURE = st.builds(
    feature, st.none() | GEOMETRY, st.none() | st.dictionaries(st.text("abc"), JSON)
)
GEOJSON = GEOMETRY | FEATURE | st.builds(collection, st.lists(FEATURE, max_size=3))


def refused(value_type: ValueType, value: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        check_value(value_type, value)


@pytest.mark.parametrize("value_type", VALUE_TYPES)
def test_the_empty_text_is_good_for_every_type_and_a_lone_surrogate_for_none(
    value_type: ValueType,
) -> None:
    assert check_value(value_type, "") == ""
    refused(value_type, "\ud800")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_types_take_any_text(value: str) -> None:
    for value_type in ("string", "multiline_string", "inline_controlled_list"):
        assert check_value(value_type, value) == value


@given(
    st.integers(1, 10**38 - 1),
    st.integers(-38, 80),
    st.sampled_from(["", "+", "-"]),
)
def test_numbers_of_38_digits_are_taken(digits: int, exponent: int, sign: str) -> None:
    check_value("number", f"{sign}{digits}e{exponent}")
    check_value("number", f"{sign}{digits}.000")
    check_value("number", f"{sign}0.{digits}")


@given(st.integers(10**38, 10**60), st.integers(-20, 20))
def test_numbers_beyond_38_digits_are_refused(digits: int, exponent: int) -> None:
    assume(len(str(digits).rstrip("0")) > 38)
    refused("number", f"{digits}e{exponent}")
    refused("number", f"0.{digits}")


@pytest.mark.parametrize(
    ("value_type", "values"),
    [
        ("number", ["0", "-0", "1.", ".5", "1E5", "9.9e125", "1e-130", "0e999"]),
        ("date", ["2026-03-01T12:00:00Z", "20260301", "20260301T120000"]),
    ],
)
def test_values_at_the_edges_are_taken(value_type: ValueType, values: list[str]) -> None:
    for value in values:
        check_value(value_type, value)


NEARLY: dict[ValueType, list[str]] = {
    "number": [
        *("NaN", "inf", "-Infinity", "1e126", "1e-131", "1e99999999999999999999999", "1_000"),
        *("1,5", " 1", "1 ", "0x10", "٣", "1e", ".", "--1", "one", "1" + "0" * 10_000),
    ],
    "boolean": ["yes", "1", "0", "t", " true", "true ", "null", "truefalse"],
    "date": [
        *("2026-02-30", "2026-13-01", "0000-01-01", "10000-01-01", "2026-3-1", "01.03.2026"),
        *("03/01/2026", "2026-03-01x12:00", "2026-03-01T25:00", "2026-03-01T12:00:00 "),
        *("today", "1772366400"),
    ],
    "xyz": [
        *(f'{{"x": 1, "y": 2, "z": {z}}}' for z in ("NaN", "1e400", "-Infinity", "9" * 400)),
        *('{"x": 1, "y": 2, "z": 3', "1 2 3"),
    ],
    "json": ["{", "{'a': 1}", "[1,]", "NaN", "undefined", '"\\ud800"'],
    "geopoint": ['{"type": "LineString", "coordinates": [[0, 0], [1, 1]]}'],
}


@pytest.mark.parametrize("value_type", NEARLY)
def test_what_is_nearly_a_value_is_refused(value_type: ValueType) -> None:
    for value in NEARLY[value_type]:
        refused(value_type, value)


@given(st.sampled_from(["true", "false"]), st.data())
def test_booleans_are_taken_in_any_case(word: str, data: st.DataObject) -> None:
    upper = data.draw(st.lists(st.booleans(), min_size=len(word), max_size=len(word)))
    mixed = "".join(c.upper() if u else c for c, u in zip(word, upper, strict=True))
    check_value("boolean", mixed)


@given(st.dates() | st.datetimes() | st.datetimes(timezones=st.timezones()))
def test_iso_dates_and_times_are_taken(value: Any) -> None:
    offset = getattr(value, "utcoffset", lambda: None)()
    assume(offset is None or offset.seconds % 60 == 0)
    check_value("date", value.isoformat())


VECTORS: dict[ValueType, tuple[str, ...]] = {
    "xyz": ("x", "y", "z"),
    "wxyz": ("w", "x", "y", "z"),
    "lla": ("lat", "long", "alt"),
}


@pytest.mark.parametrize("value_type", ["xyz", "wxyz"])
@given(st.data())
def test_vectors_of_finite_numbers_are_taken(value_type: ValueType, data: st.DataObject) -> None:
    value = {name: data.draw(FINITE) for name in VECTORS[value_type]}
    check_value(value_type, json.dumps(value))


@given(LATITUDE, LONGITUDE, FINITE)
def test_coordinates_in_range_are_taken(lat: float, long: float, alt: float) -> None:
    check_value("lla", json.dumps({"lat": lat, "long": long, "alt": alt}))


@pytest.mark.parametrize("value_type", ["xyz", "wxyz", "lla"])
@given(st.data())
def test_a_vector_with_one_wrong_number_is_refused(
    value_type: ValueType, data: st.DataObject
) -> None:
    names = VECTORS[value_type]
    value: dict[str, Any] = dict.fromkeys(names, 1.5)
    wrong = data.draw(st.sampled_from(names))
    if data.draw(st.booleans()):
        del value[wrong]
    else:
        value[wrong] = data.draw(NOT_NUMBERS)
    refused(value_type, json.dumps(value))


@pytest.mark.parametrize("value_type", ["xyz", "wxyz", "lla", "geopoint", "geojson", "matrix4x4"])
@given(JSON)
def test_json_of_another_shape_is_refused(value_type: ValueType, value: object) -> None:
    refused(value_type, json.dumps(value))


@given(
    st.floats(90, exclude_min=True, allow_infinity=False) | st.floats(max_value=-90.1),
    st.floats(180, exclude_min=True, allow_infinity=False) | st.floats(max_value=-180.1),
)
def test_coordinates_out_of_range_are_refused(latitude: float, longitude: float) -> None:
    refused("lla", json.dumps({"lat": latitude, "long": 0, "alt": 0}))
    refused("lla", json.dumps({"lat": 0, "long": longitude, "alt": 0}))
    for position in ([0, latitude], [longitude, 0]):
        for value_type in ("geopoint", "geojson"):
            refused(value_type, json.dumps({"type": "Point", "coordinates": position}))


@given(st.lists(st.lists(FINITE, min_size=4, max_size=4), min_size=4, max_size=4))
def test_matrices_of_finite_numbers_are_taken(rows: list[list[float]]) -> None:
    check_value("matrix4x4", json.dumps(rows))


@given(st.lists(st.lists(FINITE, max_size=6), max_size=6))
def test_matrices_of_another_size_are_refused(rows: list[list[float]]) -> None:
    assume(len(rows) != 4 or any(len(row) != 4 for row in rows))
    refused("matrix4x4", json.dumps(rows))


@given(st.integers(0, 3), st.integers(0, 3), NOT_NUMBERS)
def test_a_matrix_with_one_wrong_element_is_refused(row: int, column: int, wrong: object) -> None:
    rows: list[list[object]] = [[0.0] * 4 for _ in range(4)]
    rows[row][column] = wrong
    refused("matrix4x4", json.dumps(rows))


@given(geometry("Point", POSITION))
def test_geojson_points_are_taken(value: object) -> None:
    check_value("geopoint", json.dumps(value))


@given(GEOJSON)
def test_all_geojson_is_taken(value: object) -> None:
    check_value("geojson", json.dumps(value))


def without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda value: {key: part for key, part in value.items() if key != name}


@given(GEOMETRY, st.sampled_from(["type", "coordinates", "geometries"]))
def test_geojson_without_a_member_it_needs_is_refused(value: dict[str, Any], name: str) -> None:
    assume(name in value)
    bare = without(name)(value)
    refused("geojson", json.dumps(bare))
    refused("geojson", json.dumps({"type": "Feature", "properties": None, "geometry": bare}))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "point", "coordinates": [0, 0]},
        {"type": "Circle", "coordinates": [0, 0]},
        {"type": ["Point"], "coordinates": [0, 0]},
        {"type": "Point", "coordinates": []},
        {"type": "Point", "coordinates": [0]},
        {"type": "Point", "coordinates": [0, 0, 0, 0]},
        {"type": "Point", "coordinates": ["0", "0"]},
        {"type": "Point", "coordinates": [[0, 0]]},
        {"type": "Point", "coordinates": {"lon": 0, "lat": 0}},
        {"type": "LineString", "coordinates": [[0, 0]]},
        {"type": "MultiPoint", "coordinates": []},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]},
        {"type": "MultiPolygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]},
        {"type": "GeometryCollection", "geometries": []},
        {"type": "GeometryCollection", "geometries": [{"type": "Feature", "geometry": None}]},
        {"type": "Feature", "properties": None},
        {"type": "Feature", "geometry": [], "properties": None},
        {"type": "Feature", "geometry": None, "properties": []},
        {"type": "FeatureCollection"},
        {"type": "FeatureCollection", "features": [{"type": "Point", "coordinates": [0, 0]}]},
        {"type": "FeatureCollection", "features": [None]},
    ],
)
def test_what_is_nearly_geojson_is_refused(value: object) -> None:
    refused("geojson", json.dumps(value))


@given(JSON)
def test_all_json_is_taken(value: object) -> None:
    check_value("json", json.dumps(value))


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_nests_a_hundred_levels_and_no_more(opening: str) -> None:
    closing = "]" if opening == "[" else "}"

    def nested(levels: int) -> str:
        return opening * levels + "1" + closing * levels

    check_value("json", nested(MAX_JSON_DEPTH))
    for levels in (MAX_JSON_DEPTH + 1, 1000, 100_000):
        refused("json", nested(levels))


def test_keys_of_any_characters_are_taken_and_control_characters_refused() -> None:
    for key in ("a", "x" * 256, "日本 語", "a#b:c/d", "\U0001f5ff" * 256):
        assert check_key(key) == key
    for key in ("", "x" * 257, "a\u0000", "a\nb", "\u007f", "\ud800"):
        with pytest.raises(ValueError, match=r"\w"):
            check_key(key)
