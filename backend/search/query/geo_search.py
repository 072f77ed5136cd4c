"""The condition `geoSearch`: how the places of a document relate to a shape. Pure.

The places are `geo_MD_location` and the shapes of metadata. OpenSearch would name no field in its
errors, so shapes are checked here. It also takes a wide polygon in the wrong direction for one over
the 180th meridian: rings are turned.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.numbers import is_finite
from backend.search.geometries import LEVELS, PARTS_OF, geometry_of, is_sound, leaves_of
from backend.search.query.letters import any_of
from backend.search.query.models import GeoSearch
from backend.search.query.pairs import METADATA, nested_query
from backend.search.query.weights import MAX_WEIGHT, POSITION
from backend.spec.search_indexes import LOCATION, SHAPE

MAX_DEPTH = 32
"""Levels of features and collections, as in VAMS 2.6."""
# The condition is in the query twice, for the location and for metadata.
MAX_POSITIONS = int(MAX_WEIGHT / (2 * POSITION))
# Points, lines and polygons of a shape that documents contain. Each is two of the 4,096 conditions.
MAX_PARTS = 500

_FIELD = "geoSearch.geoJson"


def geo_query(sent: GeoSearch) -> JsonObject:
    """Return the query for documents with a place of this relation to the shape.

    Raises:
        InvalidInputError: the shape is invalid, or has too many positions.
    """
    shape = _shape(sent)
    parts = (
        len(leaf["coordinates"]) if leaf["type"].startswith("Multi") else 1
        for leaf in leaves_of(shape)
    )
    if sent.relation == "contains" and (count := sum(parts)) > MAX_PARTS:
        raise InvalidInputError.of(
            "geoSearch.relation",
            f"contains compares {count} points, lines and polygons; at most {MAX_PARTS} are "
            "allowed",
        )
    lines = (leaf["type"].endswith("LineString") for leaf in leaves_of(shape))
    if sent.relation == "within" and any(lines):
        raise InvalidInputError.of(
            "geoSearch.relation", "must not be within for a line, which nothing is inside of"
        )
    if sent.relation != "disjoint":
        return any_of(_related(shape, sent.relation))
    places = [
        {"exists": {"field": LOCATION}},
        nested_query(METADATA, {"exists": {"field": f"{METADATA}.{SHAPE}"}}),
    ]
    return {"bool": {"filter": [any_of(places)], "must_not": _related(shape, "intersects")}}


def _related(shape: JsonObject, relation: str) -> list[JsonObject]:
    about = {"shape": shape, "relation": relation}
    return [
        {"geo_shape": {LOCATION: about}},
        nested_query(METADATA, {"geo_shape": {f"{METADATA}.{SHAPE}": about}}),
    ]


def _shape(sent: GeoSearch) -> JsonObject:
    if sent.point is not None:
        place = [sent.point.lon, sent.point.lat]
        if sent.point.radius_meters is None:
            return {"type": "Point", "coordinates": place}
        radius = f"{sent.point.radius_meters:.3f}m"
        return {"type": "circle", "coordinates": place, "radius": radius}
    if sent.bbox is not None:
        corners = (sent.bbox.top_left, sent.bbox.bottom_right)
        return {"type": "envelope", "coordinates": [[place.lon, place.lat] for place in corners]}
    count = 0
    for part in _geometries(sent.geo_json, MAX_DEPTH):
        levels = LEVELS[part["type"]]
        for _ in _positions(part.get("coordinates"), levels, is_ring="Polygon" in part["type"]):
            count += 1
            if count > MAX_POSITIONS:
                raise _refusal(
                    f"has more than {MAX_POSITIONS} positions, which are a search of the weight "
                    f"{MAX_WEIGHT}, the largest that is allowed: simplify the shape"
                )
    if not count:
        raise _refusal("has no coordinates")
    shape = geometry_of(sent.geo_json, MAX_DEPTH)
    if shape is None or not is_sound(sent.geo_json, MAX_DEPTH):
        raise _refusal(
            "has a line of one position, or a polygon that crosses or touches itself, repeats a "
            "position, has a hole outside, or has too many edges to compare"
        )
    return _with_directions(shape)


def _geometries(value: object, depth: int) -> Iterator[JsonObject]:
    """Yield the geometries without parts of their own.

    Raises:
        InvalidInputError: a part is no GeoJSON.
    """
    if not depth:
        raise _refusal(f"must not be nested deeper than {MAX_DEPTH} levels")
    kind: object = cast("JsonObject", value).get("type") if isinstance(value, dict) else None
    known = sorted((*LEVELS, *PARTS_OF, "Feature"))
    if not isinstance(kind, str) or kind not in known:
        raise _refusal(f"has the type {quoted(str(kind))}; the types are {', '.join(known)}")
    fields = cast("JsonObject", value)
    if kind in LEVELS:
        yield fields
    elif kind in PARTS_OF:
        parts: object = fields.get(PARTS_OF[kind])
        if not isinstance(parts, list):
            raise _refusal(f"needs a list of {PARTS_OF[kind]} in a {kind}")
        for part in cast("list[object]", parts):
            yield from _geometries(part, depth - 1)
    elif fields.get("geometry") is not None:
        yield from _geometries(fields["geometry"], depth - 1)


def _positions(value: object, levels: int, *, is_ring: bool) -> Iterator[None]:
    """Yield once for each position in lists of so many levels.

    Raises:
        InvalidInputError: one of them is not a longitude and a latitude, or a ring is open.
    """
    parts = cast("list[Any]", value) if isinstance(value, list) else []
    if not parts:
        raise _refusal("has empty coordinates, or coordinates of another type")
    if levels > 1:
        for part in parts:
            yield from _positions(part, levels - 1, is_ring=is_ring)
        if is_ring and levels == 2 and (len(parts) < 4 or parts[0][:2] != parts[-1][:2]):
            raise _refusal(
                "has a ring that is not closed: it needs four positions, the last "
                "equal to the first"
            )
        return
    if len(parts) not in {2, 3} or not all(is_finite(part) for part in parts):
        raise _refusal(f"has the position {quoted(str(parts))}, which is not two or three numbers")
    for part, limit, name in ((parts[0], 180, "longitude"), (parts[1], 90, "latitude")):
        if abs(part) > limit:
            raise _refusal(f"has the {name} {part:g}; it must be between -{limit} and {limit}")
    yield None


def _with_directions(shape: JsonObject) -> JsonObject:
    """Return the shape with outer rings counterclockwise and holes clockwise."""
    match shape:
        case {"geometries": parts}:
            return {**shape, "geometries": [_with_directions(part) for part in parts]}
        case {"type": "Polygon", "coordinates": rings}:
            return {**shape, "coordinates": _oriented(rings)}
        case {"type": "MultiPolygon", "coordinates": polygons}:
            return {**shape, "coordinates": [_oriented(rings) for rings in polygons]}
        case _:
            return shape


def _oriented(rings: list[Any]) -> list[Any]:
    turned: list[Any] = []
    for number, ring in enumerate(rings):
        edges = pairwise(ring)
        area = sum(start[0] * end[1] - end[0] * start[1] for start, end in edges)
        turned.append(ring if (area > 0) == (number == 0) else ring[::-1])
    return turned


def _refusal(fact: str) -> InvalidInputError:
    return InvalidInputError.of(_FIELD, fact)
