"""Values and letters of documents and conditions."""

import json
import math
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.names import valid_text
from backend.search.indexing.sources import valid_record
from backend.search.query import letters
from backend.search.query.letters import equals, matches, normalize
from backend.search.values import (
    FIELD_BUDGET,
    Record,
    cut,
    flat_object,
    geographic_fields,
    geographic_keys,
    iso_date,
    location_of,
    misplaced_keys,
    searchable,
    typed_pairs,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
TYPES = ("string", "number", "date", "boolean", "geopoint", "lla", "geojson", "json", "odd")


def pair(value: str, value_type: str) -> dict[str, object]:
    (pair,) = typed_pairs([Record("k", value, value_type)], point_shapes=False)
    return {name: content for name, content in pair.items() if name not in {"key", "string"}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", 1.0), ("-1.5e3", -1500.0), (".5", 0.5), ("9" * 38, float("9" * 38)), ("+2.", 2.0)],
)
def test_numbers_are_numbers(value: str, expected: float) -> None:
    assert pair(value, "number") == {"number": expected}


@pytest.mark.parametrize("value", ["0", "-0", "-0.0e5", "-1e-400"])
def test_there_is_one_zero(value: str) -> None:
    assert str(pair(value, "number")["number"]) == "0.0"


@pytest.mark.parametrize("value", ["NaN", "1e400", "-1e309", "inf", "1_000", "0x10", "", "a", "१"])
def test_values_that_are_no_finite_numbers_remain_texts(value: str) -> None:
    assert pair(value, "number") == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("2026-03", "2026-03-01T00:00:00+00:00"),
        ("2026", "2026-01-01T00:00:00+00:00"),
        ("2026-03-01T12:00:00+14:00", "2026-02-28T22:00:00+00:00"),
        ("0001-01-01", "0001-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999+00:00"),
    ],
)
def test_dates_are_written_as_utc(value: str, expected: str) -> None:
    assert pair(value, "date") == {"date": expected}


@pytest.mark.parametrize(
    "value",
    [
        "0000-01-01",
        "10000-01-01",
        "-0001-01-01",
        "2026-02-30",
        "0001-01-01T00:00:00+14:00",
        "yesterday",
        "",
    ],
)
def test_dates_outside_the_years_1_to_9999_remain_texts(value: str) -> None:
    assert pair(value, "date") == {}


def test_booleans_are_booleans() -> None:
    assert pair("True", "boolean") == {"boolean": True}
    assert pair("false", "boolean") == {"boolean": False}
    assert pair("yes", "boolean") == {}


@pytest.mark.parametrize(
    ("value", "value_type"),
    [
        ('{"type": "Point", "coordinates": [-3.5, 40]}', "geopoint"),
        ('{"type": "Point", "coordinates": [-3.5, 40, 100]}', "geopoint"),
        ('{"lat": 40, "long": -3.5, "alt": 0}', "lla"),
    ],
)
def test_points_are_points(value: str, value_type: str) -> None:
    record = Record("place", value, value_type)
    assert pair(value, value_type) == {"point": {"lat": 40, "lon": -3.5}}
    assert geographic_keys([record]) == {"place"}
    assert geographic_fields([record], frozenset({"place"})) == {
        "gp_place": {"lat": 40, "lon": -3.5}
    }


@pytest.mark.parametrize(
    "value",
    [
        '{"lat": 91, "long": 0}',
        '{"lat": 0, "long": 181}',
        '{"lat": NaN, "long": 0}',
        '{"lat": Infinity, "long": 0}',
        '{"lat": true, "long": 0}',
        '{"lat": "1", "long": 0}',
        '{"lat": 1}',
        "[1, 2]",
        "[" * 100_000,
        '{"lat": ' + "9" * 5000 + ', "long": 0}',
    ],
)
def test_values_that_are_no_points_on_earth_remain_texts(value: str) -> None:
    assert pair(value, "lla") == {}
    assert geographic_fields([Record("k", value, "lla")], frozenset({"k"})) == {}


def test_shapes_are_texts_of_their_own_and_parts_of_pairs() -> None:
    shape = '{"type": "LineString", "coordinates": [[0, 0], [1, 1]]}'
    record = Record("way", shape, "geojson")
    assert geographic_fields([record], frozenset({"way"})) == {"gs_way": shape}
    assert pair(shape, "geojson") == {"shape": json.loads(shape)}
    collection = f'{{"type": "GeometryCollection", "geometries": [{shape}, 3, {{"type": "X"}}]}}'
    kept = {"type": "GeometryCollection", "geometries": [json.loads(shape)]}
    assert pair(collection, "geojson") == {"shape": kept}
    (old,) = typed_pairs([Record("k", shape, "geojson")], shapes=False)
    assert "shape" not in old


def test_shapes_that_are_large_or_nested_deeply_or_no_places_are_texts_only() -> None:
    places = [[n / 1000, 1] for n in range(4000)]
    nested: object = {"type": "Point", "coordinates": [1, 1]}
    for _ in range(10):
        nested = {"type": "GeometryCollection", "geometries": [nested]}
    wrong: tuple[object, ...] = (
        [],
        [[1]],
        [[1, 91]],
        [["1", 1]],
        [[True, 1]],
        [[[[[[[1, 1]]]]]]],
        "x",
        {"a": 1},
    )
    lines = ({"type": "LineString", "coordinates": value} for value in (places, *wrong))
    for shape in (nested, *lines, {"type": "FeatureCollection", "features": [None]}):
        assert pair(json.dumps(shape), "geojson") == {}
    many = [Record(f"k{n:03}", json.dumps(lines_of(700)), "geojson") for n in range(100)]
    assert 20 < sum("shape" in stored for stored in typed_pairs(many)) < 100


def test_places_and_shapes_that_may_not_be_found_are_named() -> None:
    square = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
    hole = [[4, 4], [5, 4], [5, 5], [4, 4]]
    line = {"type": "LineString", "coordinates": [[0, 0], [1, 1], [0, 1], [1, 0]]}
    named = {
        "crossed": [[square[n] for n in (0, 2, 1, 3, 0)]],
        "open": [square[:4]],
        "flat": [[[0, 0], [1, 1], [2, 2], [0, 0]]],
        "spike": [[*square[:3], [10, 20], *square[2:]]],
        "doubled": [[square[0], *square]],
        "touched twice": [[[0, 0], [10, 0], [5, 5], [10, 10], [0, 10], [5, 5], [0, 0]]],
        "hole outside": [square, [[x + 20, y] for x, y in hole]],
        "hole across": [square, [[x + 5.5, y] for x, y in hole]],
        "hole in a hole": [square, [[1, 1], [9, 1], [9, 9], [1, 9], [1, 1]], hole],
        "far north": [[[0, 0], [10, 0], [10, 95], [0, 0]]],
        "empty": [],
    }
    polygons = {name: {"type": "Polygon", "coordinates": rings} for name, rings in named.items()}
    whole = {"type": "Polygon", "coordinates": [square, hole]}
    features = [{"type": "Feature", "geometry": shape} for shape in (whole, polygons["crossed"])]
    shapes: dict[str, object] = {
        **polygons,
        "second": {"type": "MultiPolygon", "coordinates": [[square], named["crossed"]]},
        "feature": {"type": "FeatureCollection", "features": features},
        "members": {"type": "FeatureCollection", "features": {}},
        "short": {"type": "LineString", "coordinates": [[0, 0]]},
        "short part": {"type": "MultiLineString", "coordinates": [[[0, 0]]]},
        "circle": {"type": "Circle", "coordinates": [0, 0]},
        "large": lines_of(4000),
    }
    sound: tuple[object, ...] = (
        whole,
        line,
        {"type": "Feature", "geometry": None},
        {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": None}]},
        {"type": "MultiPolygon", "coordinates": [[square], [[[x + 5, y] for x, y in square]]]},
        {"type": "Point", "coordinates": [1, 2, 3]},
    )
    wrong = [
        *(Record(key, json.dumps(shape), "GeoJSON") for key, shape in shapes.items()),
        Record("no JSON", "Bern", "geojson"),
        Record("no point", json.dumps(line), "geopoint"),
        Record("no place", '{"lat": 91, "long": 0}', "lla"),
    ]
    right = [Record(f"sound {n}", json.dumps(s), "geojson") for n, s in enumerate(sound)]
    others = [Record("text", "Bern"), Record("place", '{"lat": 9, "long": 0}', "lla")]
    assert misplaced_keys([*right, *wrong, *others]) == [record.key for record in wrong]


def test_edges_of_a_polygon_are_compared_within_a_limit() -> None:
    comb = [[x, n / 100] for n in range(900) for x in ((0, 50) if n % 2 else (50, 0))]
    ring = [*comb, [-1, 9], [-1, -1], [50, -1], comb[0]]
    crossed = [[n % 7 * 11.3, n * 37 % 101 * 0.9] for n in range(1500)]
    for points, expected in ((ring, []), ([*crossed, crossed[0]], ["k"])):
        shape = json.dumps({"type": "Polygon", "coordinates": [points]}, separators=(",", ":"))
        assert misplaced_keys([Record("k", shape, "geojson")]) == expected


def lines_of(count: int) -> dict[str, object]:
    return {"type": "LineString", "coordinates": [[n / 1000, 1] for n in range(count)]}


def test_only_allowed_and_well_formed_keys_get_geographic_fields() -> None:
    value = '{"lat": 40, "long": -3.5}'
    odd = [Record(key, value, "lla") for key in ("a.b", "a b", "k" * 65, "é", "")]
    assert geographic_keys(odd) == set()
    assert geographic_fields([Record("k", value, "lla")], frozenset()) == {}


def test_system_fields_are_left_out() -> None:
    records = [Record(key, "x") for key in ("VAMS_primary", "_hidden", "kept", "b")]
    assert [record.key for record in searchable(records)] == ["b", "kept"]


def test_a_long_text_is_no_whole_keyword_but_its_words_are_there() -> None:
    (pair,) = typed_pairs([Record("k", "x" * 9000)])
    assert pair["string"] == "x" * 8001  # one more than keywords take


@given(ANY_TEXT, st.integers(0, 40))
def test_what_is_cut_is_a_beginning_and_short_enough(text: str, limit: int) -> None:
    whole = valid_text(text)
    short = cut(whole, limit)
    assert whole.startswith(short)
    assert len(short.encode()) <= limit
    assert len(whole.encode()) > limit or short == whole


@given(ANY_TEXT)
def test_cleaned_text_is_unicode_and_valid_text_is_unchanged(text: str) -> None:
    repaired = valid_text(text)
    repaired.encode()
    assert valid_text(repaired) == repaired


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, st.sampled_from(TYPES)), max_size=8))
def test_whatever_records_hold_their_fields_are_valid_json_and_in_range(
    raw: list[tuple[str, str, str]],
) -> None:
    records = [valid_record(*parts) for parts in raw]
    allowed = frozenset(geographic_keys(records))
    pairs = typed_pairs(records)
    outputs = [flat_object(records), pairs, geographic_fields(records, allowed)]
    json.dumps(outputs, allow_nan=False, ensure_ascii=False).encode()
    assert all(math.isfinite(entry.get("number", 0)) for entry in pairs)


def test_path_and_value_of_a_flat_object_stay_below_the_limit() -> None:
    fields = flat_object([Record("é" * 200, "€" * 40_000), Record("k" * 40_000, "v" * 40_000)])
    assert all(len(f"MD_.{key}={value}".encode()) <= 32_000 for key, value in fields.items())


def test_five_hundred_large_values_fit_one_document() -> None:
    records = [Record(f"k{n}", "€" * 100_000) for n in range(500)]
    for field in (flat_object(records), typed_pairs(records)):
        assert len(json.dumps(field, ensure_ascii=False).encode()) < FIELD_BUDGET * 1.1


@given(ANY_TEXT)
def test_every_text_is_a_date_or_none(text: str) -> None:
    moment = iso_date(text)
    assert moment is None or iso_date(moment) == moment


def test_a_point_in_geojson_is_a_place_from_mapping_version_5_on() -> None:
    point = '{"type": "Point", "coordinates": [8.5, 47.4, 400]}'
    for value, is_point in (
        (point, True),
        (f'{{"type": "Feature", "geometry": {point}}}', True),
        ('{"type": "Point", "coordinates": [8.5, 91]}', False),
        ('{"type": "Point", "coordinates": "8.5"}', False),
        ('{"type": "Point", "coordinates": [[8.5, 47.4]]}', False),
        ('{"type": "Point", "coordinates": [8.5, 47.4, 1' + "0" * 400 + "]}", False),
        ('{"type": "LineString", "coordinates": [8.5, 47.4]}', False),
        ('{"type": ["Point"], "coordinates": [8.5, 47.4]}', False),
        ('{"type": "Feature", "geometry": null}', False),
        ("[]", False),
        ("{", False),
        ("[" * 5000, False),
    ):
        expected = {"point": {"lat": 47.4, "lon": 8.5}} if is_point else {}
        assert pair(value, "geojson") == expected, value
        (old,) = typed_pairs(
            [Record("k", value, "geojson")], geojson_points=False, point_shapes=False
        )
        assert set(old) == {"key", "string"}


def test_points_of_each_type_are_shapes_too_from_mapping_version_9_on() -> None:
    for kind, value in (
        ("lla", {"lat": 47, "long": 8, "alt": 0}),
        ("geopoint", point(8, 47)),
        ("geojson", point(8, 47)),
        ("geojson", {"type": "Feature", "geometry": point(8, 47)}),
    ):
        (stored,) = typed_pairs([Record("k", json.dumps(value), kind)])
        assert stored["shape"] == point(8, 47)
        assert stored["point"] == {"lat": 47, "lon": 8}


def point(*place: float) -> dict[str, object]:
    return {"type": "Point", "coordinates": [*place]}


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"location": "47.4, 8.5"}, point(8.5, 47.4)),
        ({"Location": "47.4,8.5,400"}, point(8.5, 47.4, 400)),
        ({"location": '{"Latitude": "47.4", "lng": 8.5}'}, point(8.5, 47.4)),
        ({"location": json.dumps({"type": "Feature", "geometry": point(8, 47)})}, point(8, 47)),
        ({"location": json.dumps({"type": "FeatureCollection", "features": [
            {"type": "Feature", "geometry": point(*place)} for place in ((8, 47), (9, 48))
        ]})}, point(8, 47)),
        ({"location": json.dumps(point(8, 91)), "lat": "47", "long": "8"}, point(8, 47)),
        ({"LAT": " 47 ", "latitude": "", "lon": "8", "elevation": "4"}, point(8, 47, 4)),
        ({"location": '{"type": "Point", "coordinates": [8, 47, NaN]}'}, None),
        ({"location": '{"type": "FeatureCollection", "features": []}'}, None),
        ({"location": '{"lat": [47], "lon": true}'}, None),
        ({"location": "47"}, None),
        ({"location": "second floor, left"}, None),
        ({"lat": "NaN", "lon": "8"}, None),
        ({"lat": "47", "lon": "180.1"}, None),
        ({"lat": "47"}, None),
    ],
)  # fmt: skip
def test_the_location_of_a_document_is_read_as_vams_reads_it(
    values: dict[str, str], place: dict[str, object] | None
) -> None:
    assert location_of([Record(key, value) for key, value in values.items()]) == place


def test_the_letters_that_normalization_changes_are_all_known() -> None:
    changed = {
        letter
        for letter in map(chr, range(0x80, sys.maxunicode + 1))
        if unicodedata.category(letter) not in {"Cn", "Co", "Cs"} and normalize(letter) != letter
    }
    sources = letters.sources_by_form()
    assert {letter for letters in sources.values() for letter in letters} == changed


def test_a_text_of_plain_letters_needs_no_expression() -> None:
    assert equals("f", "a.b") == {"term": {"f": {"value": "a.b", "case_insensitive": True}}}
    assert matches("f", "a*") == {"wildcard": {"f": {"value": "a*", "case_insensitive": True}}}
    assert equals("f", "") == {"term": {"f": {"value": ""}}}


def test_an_expression_has_all_letters_of_one_form_and_no_other_meaning() -> None:
    expected = {"value": "o(\u00d6|\u00f6|O\u0308|o\u0308)\\.\\*.*.", "flags": "NONE"}
    condition = matches("f", "O\u00d6.\\**?")
    assert condition == {"regexp": {"f": {**expected, "case_insensitive": True}}}
    assert "(\u00df|\u1e9e|[s\u017f][s\u017f])" in equals("f", "SS")["regexp"]["f"]["value"]


def test_a_text_beyond_the_limit_of_expressions_is_compared_by_its_usual_cases() -> None:
    queries = equals("f", "\u0436" * 900)["bool"]["should"]
    assert [query["term"]["f"]["value"] for query in queries] == ["\u0436" * 900, "\u0416" * 900]
