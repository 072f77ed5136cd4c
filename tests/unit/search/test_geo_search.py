"""`geoSearch`: what is refused by name, and the directions of rings."""

import math
from typing import Any

import pytest

from backend.core.errors import InvalidInputError
from backend.http.bodies import validate
from backend.search.query.geo_search import MAX_POSITIONS
from backend.search.query.models import SearchBody
from backend.search.query.queries import plan_search
from backend.search.query.weights import LIGHT, check_weight

SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
HOLE = [[2, 2], [2, 4], [4, 4], [4, 2], [2, 2]]
PLACE = {"lat": 47, "lon": 8}


def geo_json(kind: str, coordinates: Any, **fields: Any) -> dict[str, Any]:
    return {"geoJson": {"type": kind, "coordinates": coordinates, **fields}}


def circle(count: int) -> list[list[float]]:
    angles = [2 * math.pi * n / count for n in range(count)]
    return [[10 * math.cos(angle), 10 * math.sin(angle)] for angle in (*angles, 0)]


def weight(sent: Any) -> float:
    body = validate(SearchBody, {"geoSearch": sent, "includeHighlights": True}, strict=True)
    return check_weight(plan_search(body, {"match_all": {}}))


def nested(depth: int) -> dict[str, Any]:
    inner = {"type": "GeometryCollection", "geometries": [nested(depth - 1)]} if depth else {}
    return inner or {"type": "Point", "coordinates": [8, 47]}


@pytest.mark.parametrize(
    ("sent", "field", "fact"),
    [
        ({}, "", "takes exactly one of point, bbox and geoJson"),
        ({"point": PLACE, "geoJson": {}}, "", "takes exactly one of"),
        ({"point": {"lat": 91, "lon": 8}}, "point.lat", "at most 90"),
        ({"point": {"lat": 47, "lon": 180.1}}, "point.lon", "at most 180"),
        ({"point": {"lat": math.nan, "lon": 8}}, "point.lat", "finite"),
        ({"point": {**PLACE, "radiusMeters": 0}}, "point.radiusMeters", "at least 0.001"),
        ({"point": {**PLACE, "radiusMeters": 1e8}}, "point.radiusMeters", "at most 20037508"),
        ({"bbox": {"topLeft": PLACE, "bottomRight": PLACE}}, "bbox.topLeft.lat", "greater than"),
        ({"point": PLACE, "relation": "near"}, "relation", "'disjoint'"),
        (geo_json("LineString", [[0, 0], [1, 1]]) | {"relation": "within"}, "relation", "line"),
        (
            geo_json("MultiPoint", SQUARE * 200) | {"relation": "contains"},
            "relation",
            "1000 points",
        ),
        ({"geoJson": {"type": "Circle"}}, "geoJson", "'Circle'; the types are Feature, "),
        ({"geoJson": {"type": "FeatureCollection"}}, "geoJson", "a list of features"),
        ({"geoJson": {"type": "FeatureCollection", "features": []}}, "geoJson", "no coordinates"),
        ({"geoJson": {"type": "Feature", "geometry": None}}, "geoJson", "no coordinates"),
        ({"geoJson": nested(32)}, "geoJson", "deeper than 32 levels"),
        (geo_json("Polygon", []), "geoJson", "empty coordinates"),
        (geo_json("Point", [181, 0]), "geoJson", "longitude 181; it must be between -180 and 180"),
        (geo_json("Point", [0, -91]), "geoJson", "latitude -91"),
        *(
            (geo_json("Point", [0, *others]), "geoJson", "not two or three numbers")
            for others in ([math.nan], [10**400], [0, 10**400], [0, 0, 0])
        ),
        (geo_json("LineString", [[0, 0]]), "geoJson", "a line of one position"),
        (geo_json("Polygon", [SQUARE[:-1]]), "geoJson", "not closed"),
        (geo_json("Polygon", [[SQUARE[n] for n in (0, 2, 1, 3, 0)]]), "geoJson", "crosses"),
        (geo_json("Polygon", [SQUARE, [[x + 7, y] for x, y in HOLE]]), "geoJson", "a hole outside"),
        (geo_json("Polygon", [circle(100_000)]), "geoJson", f"more than {MAX_POSITIONS} positions"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_field_and_the_fact(
    sent: dict[str, Any], field: str, fact: str
) -> None:
    with pytest.raises(InvalidInputError, match=fact) as refused:
        weight(sent)
    (error,) = refused.value.fields
    assert error.field == ".".join(filter(None, ("geoSearch", field)))


def test_polygons_have_the_direction_that_opensearch_expects() -> None:
    shapes: list[Any] = []
    for rings in ([SQUARE, HOLE], [SQUARE[::-1], HOLE[::-1]]):
        for sent in (geo_json("Polygon", rings), geo_json("MultiPolygon", [rings])):
            body = SearchBody.model_validate({"geoSearch": sent})
            (condition,) = plan_search(body, {"match_all": {}}).filters
            shapes.append(condition["bool"]["should"][0]["geo_shape"]["geo_MD_location"]["shape"])
    assert shapes[0]["coordinates"] == shapes[1]["coordinates"][0] == [SQUARE, HOLE]
    assert shapes[:2] == shapes[2:]


def test_a_shape_weighs_by_its_positions() -> None:
    weights = [weight(geo_json("Polygon", [circle(count)])) for count in (100, 1000, 4000)]
    assert weights == sorted(weights)
    assert weights[0] < 1
    assert weights[1] <= LIGHT
    assert weights[2] > weights[1] + 1
    both = geo_json("Polygon", [SQUARE, HOLE]), geo_json("MultiPoint", [*SQUARE, *HOLE])
    assert len({*map(weight, both)}) == 1
