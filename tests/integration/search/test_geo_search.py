"""Searches by `geoSearch` on OpenSearch: shapes and their four relations to places of documents."""

import json

from backend.core.search_engine import JsonObject
from backend.search.query.models import SimpleSearchBody
from backend.search.values import Record, location_of, typed_pairs
from tests.integration.search.conftest import CALLER, Library, asset


def polygon(*corners: tuple[float, float]) -> JsonObject:
    return {"type": "Polygon", "coordinates": [[list(corner) for corner in (*corners, corners[0])]]}


def box(west: float, south: float, east: float, north: float) -> JsonObject:
    return polygon((west, south), (east, south), (east, north), (west, north))


def record(value: JsonObject, key: str = "site", kind: str = "geojson") -> Record:
    return Record(key, json.dumps(value), kind)


def _location(records: tuple[Record, ...]) -> JsonObject:
    location = location_of(records)
    return {} if location is None else {"geo_MD_location": location}


ZURICH, BERN = (8.54, 47.37), (7.45, 46.95)
RECORDS = {
    "zurich": (Record("Location", "47.37, 8.54, 408"),),
    "bern": (record({"type": "Point", "coordinates": [*BERN]}, kind="geopoint"),),
    "canton": (record(box(8.3, 47.2, 8.9, 47.7)),),
    "road": (
        record({"type": "LineString", "coordinates": [[*BERN], [*ZURICH]]}, "location", "string"),
    ),
    "fiji": (Record("lat", "-17"), Record("LNG", "179.9")),
    "crossed": (record(polygon((8, 47), (9, 48), (9, 47), (8, 48)), "location"),),
    "placeless": (Record("location", "second floor"),),
}
DOCUMENTS: dict[str, JsonObject] = {
    name: asset(name, typed_pairs(records), **_location(records))
    for name, records in RECORDS.items()
}
PLACED = {"zurich", "bern", "canton", "road", "fiji"}
CORNER = {"topLeft": {"lat": 47.5, "lon": 8}, "bottomRight": {"lat": 47, "lon": 9}}
PACIFIC = {"topLeft": {"lat": -10, "lon": 170}, "bottomRight": {"lat": -20, "lon": -170}}
CUT = {
    "type": "GeometryCollection",
    "geometries": [box(170, -20, 180, -10), box(-180, -20, -170, -10)],
}
# Clockwise, and wider than half of the earth: OpenSearch would take the other half.
WIDE = polygon((-100, -50), (-100, 60), (100, 60), (100, -50))
FEATURES = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "geometry": box(x - 0.1, y - 0.1, x + 0.1, y + 0.1)}
        for x, y in (ZURICH, BERN)
    ],
}


NONE: set[str] = set()
# A shape, and the documents with a place that intersects it, is within it, and contains it.
SHAPES: tuple[tuple[JsonObject, set[str], set[str], set[str]], ...] = (
    ({"bbox": CORNER}, {"zurich", "canton", "road"}, {"zurich"}, NONE),
    ({"bbox": PACIFIC}, {"fiji"}, {"fiji"}, NONE),
    ({"point": {"lat": 47.4, "lon": 8.5, "radiusMeters": 8000}},
     {"zurich", "canton", "road"}, {"zurich"}, {"canton"}),
    ({"point": {"lat": 47.5, "lon": 8.5}}, {"canton"}, NONE, {"canton"}),
    ({"geoJson": CUT}, {"fiji"}, {"fiji"}, NONE),
    ({"geoJson": WIDE}, PLACED - {"fiji"}, PLACED - {"fiji"}, NONE),
    ({"geoJson": FEATURES}, PLACED - {"fiji"}, {"zurich", "bern"}, NONE),
    ({"geoJson": {"type": "LineString", "coordinates": [[8.4, 47.5], [8.6, 47.5]]}},
     {"canton"}, NONE, {"canton"}),
    ({"geoJson": box(-10, -80, 10, -70)}, NONE, NONE, NONE),
)  # fmt: skip


def test_each_relation_finds_the_places_that_have_it(library: Library) -> None:
    library.put(DOCUMENTS)
    for shape, intersecting, within, containing in SHAPES:
        expected = {
            "intersects": intersecting,
            "within": within,
            "contains": containing,
            "disjoint": PLACED - intersecting,
        }
        is_line = "LineString" in str(shape)
        for relation, names in expected.items():
            if is_line and relation == "within":
                continue
            sent = {**shape, "relation": relation}
            assert library.ids(geoSearch=sent) == names, sent
    simple = SimpleSearchBody.model_validate({"geoSearch": {"bbox": CORNER}, "assetId": "can*"})
    hits = library.service.search_simple(CALLER, simple)["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["canton"]


def test_files_of_a_place_inherit_it_where_hits_are_assets(library: Library) -> None:
    file: JsonObject = {**asset("zurich"), "_rectype": "file", "str_key": "zurich/a.glb"}
    library.put({**DOCUMENTS, "zurich:a": {**file, "str_fileext": ".glb"}})
    glb = [{"query_string": {"query": "str_fileext:.glb"}}]
    assert library.ids(geoSearch={"bbox": CORNER}, filters=glb) == NONE
    reply = library.search(geoSearch={"bbox": CORNER}, filters=glb, foldFiles=True)
    (hit,) = reply["hits"]["hits"]
    assert (hit["_id"], [part["_id"] for part in hit["files"]]) == ("zurich", ["zurich:a"])
    assert hit["_source"]["geo_MD_location"]["type"] == "Point"
