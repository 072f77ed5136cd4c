"""Geometries in GeoJSON: which of them OpenSearch indexes, and which polygons it may leave out.

OpenSearch divides polygons into triangles, and ignores shapes for which it cannot. It does not
report which: `is_sound` decides more strictly, on the same grid of coordinates.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise, starmap
from math import dist
from typing import Any, cast

from backend.numbers import is_finite

JsonObject = dict[str, Any]

MAX_GEOMETRY_DEPTH = 6
"""Levels of features and collections in GeoJSON."""
LEVELS = {
    "Point": 1,
    "MultiPoint": 2,
    "LineString": 2,
    "MultiLineString": 3,
    "Polygon": 3,
    "MultiPolygon": 4,
}
"""The levels of lists in the coordinates of each geometry."""
PARTS_OF = {"FeatureCollection": "features", "GeometryCollection": "geometries"}
# Degrees, a centimetre: nearer points count as one. Lucene's grid of coordinates has half of it.
_NEAR = 1e-7
# Pairs of edges, or of an edge and a ring, that are compared for one polygon: a fifth of a second.
# The edges of a coast of 2,000 points are a few thousand pairs.
_MAX_PAIRS = 100_000

_Point = tuple[float, float]
_Edge = tuple[_Point, _Point]


def geometry_of(fields: object, depth: int = MAX_GEOMETRY_DEPTH) -> JsonObject | None:
    """Return the geometry of GeoJSON without what OpenSearch does not know; None if it has none."""
    if not isinstance(fields, dict) or not depth:
        return None
    value = cast("JsonObject", fields)
    kind: object = value.get("type")
    if kind == "Feature":
        return geometry_of(value.get("geometry"), depth - 1)
    if isinstance(kind, str) and kind in PARTS_OF:
        parts = _list(value.get(PARTS_OF[kind]))
        shapes = [shape for part in parts if (shape := geometry_of(part, depth - 1)) is not None]
        return {"type": "GeometryCollection", "geometries": shapes} if shapes else None
    levels = LEVELS.get(kind) if isinstance(kind, str) else None
    if levels is None or not _are_places(value.get("coordinates"), levels):
        return None
    return {"type": kind, "coordinates": value["coordinates"]}


def leaves_of(shape: JsonObject) -> Iterator[JsonObject]:
    """Yield the geometries of a geometry, as `geometry_of` returns it, that have no parts."""
    if "geometries" not in shape:
        yield shape
    for part in shape.get("geometries", ()):
        yield from leaves_of(part)


def count_positions(coordinates: list[Any]) -> int:
    """Return the number of positions in some coordinates."""
    return sum(map(count_positions, coordinates)) if isinstance(coordinates[0], list) else 1


def is_sound(fields: object, depth: int = MAX_GEOMETRY_DEPTH) -> bool:
    """Return whether OpenSearch indexes all of some GeoJSON.

    Also false for polygons that touch themselves, or have too many edges to be compared, of which
    OpenSearch indexes some. Features without a geometry are sound.
    """
    if not isinstance(fields, dict) or not depth:
        return False
    value = cast("JsonObject", fields)
    kind: object = value.get("type")
    if kind == "Feature":
        geometry: object = value.get("geometry")
        return geometry is None or is_sound(geometry, depth - 1)
    if isinstance(kind, str) and kind in PARTS_OF:
        listed: object = value.get(PARTS_OF[kind])
        return isinstance(listed, list) and all(
            is_sound(part, depth - 1) for part in cast("list[object]", listed)
        )
    shape = geometry_of(value, 1)
    return shape is not None and _SOUND.get(shape["type"], bool)(shape["coordinates"])


def point_of(latitude: object, longitude: object) -> JsonObject | None:
    """Return a point on the earth, None for any other values."""
    for value, limit in ((latitude, 90), (longitude, 180)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if not -limit <= value <= limit:  # false for NaN as well
            return None
    return {"lat": latitude, "lon": longitude}


def point_shape(point: JsonObject, altitude: float | None = None) -> JsonObject:
    """Return a point, as `point_of` returns it, in GeoJSON."""
    place = [point["lon"], point["lat"]]
    return {"type": "Point", "coordinates": place if altitude is None else [*place, altitude]}


def first_two(value: object) -> tuple[object, object]:
    """Return the first two of some coordinates, None for those that are missing."""
    coordinates = [*_list(value), None, None]
    return coordinates[0], coordinates[1]


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _are_places(value: object, levels: int) -> bool:
    """Return whether these are lists, of so many levels, with longitudes and latitudes in them."""
    parts = _list(value)
    if not parts:
        return False
    if levels > 1:
        return all(_are_places(part, levels - 1) for part in parts)
    longitude, latitude = first_two(parts)
    is_place = point_of(latitude, longitude) is not None
    # Altitudes are not indexed, but a document with NaN would not be JSON.
    return is_place and all(is_finite(part) for part in parts)


def _is_simple(rings: Sequence[Sequence[Sequence[float]]]) -> bool:
    """Return whether the rings of a polygon are closed, and neither cross nor touch.

    Holes are within the first ring, and outside of each other.
    """
    corners: list[list[_Point]] = []
    for ring in rings:
        places = [(place[0], place[1]) for place in ring]
        is_closed = len(places) > 3 and places[0] == places[-1]
        if not is_closed or any(first == second for first, second in pairwise(places)):
            return False
        corners.append([start for start, end in pairwise(places) if dist(start, end) > _NEAR])
    points = [point for ring in corners for point in ring]
    if min(map(len, corners)) < 3 or len({*points}) < len(points):
        return False
    edges = [edge for ring in corners for edge in zip(ring, [*ring[1:], *ring[:1]], strict=True)]
    # One more than is compared below shows that there are too many.
    pairs = list(islice(_near(edges), _MAX_PAIRS + 1))
    if len(pairs) + len(edges) * len(corners) > _MAX_PAIRS or any(starmap(_conflict, pairs)):
        return False
    outer, *holes = corners
    return all(_is_inside(hole[0], outer) for hole in holes) and not any(
        _is_inside(hole[0], other) for hole in holes for other in holes if other is not hole
    )


def _near(edges: Sequence[_Edge]) -> Iterator[tuple[_Edge, _Edge]]:
    """Return the pairs of edges whose extents meet along the axis on which fewer do."""

    def span(edge: _Edge, axis: int) -> tuple[float, float]:
        (first, second) = sorted((edge[0][axis], edge[1][axis]))
        return first, second

    def share(axis: int) -> float:
        spans = [span(edge, axis) for edge in edges]
        extent = max(end for _, end in spans) - min(start for start, _ in spans)
        return sum(end - start for start, end in spans) / (extent or 1)

    axis = min((0, 1), key=share)
    active: list[tuple[float, _Edge]] = []
    for edge in sorted(edges, key=lambda edge: span(edge, axis)):
        start, end = span(edge, axis)
        active = [item for item in active if item[0] >= start]
        yield from ((other, edge) for _, other in active)
        active.append((end, edge))


def _conflict(one: _Edge, other: _Edge) -> bool:
    """Return whether two edges meet other than as neighbours at the point that they share."""
    shared = {*one} & {*other}
    if shared:
        corner = one[0] if one[0] in shared else one[1]
        ends = [end for edge in (one, other) for end in edge if end not in shared]
        if len(shared) > 1 or len(ends) < 2:
            return True
        is_ahead = sum((a - c) * (b - c) for a, b, c in zip(*ends, corner, strict=True)) > 0
        return is_ahead and 0 in (_side(corner, ends[0], ends[1]), _side(corner, ends[1], ends[0]))
    sides = [_side(*one, point) for point in other], [_side(*other, point) for point in one]
    if any(first * second > 0 for first, second in sides):
        return False
    # They cross, touch, or are on one line, where their extents may still be apart.
    return all(
        max(min(a[axis], b[axis]) for a, b in (one, other))
        <= min(max(a[axis], b[axis]) for a, b in (one, other)) + _NEAR
        for axis in (0, 1)
    )


def _side(start: _Point, end: _Point, point: _Point) -> int:
    """Return on which side of a line a point is: 1, -1, or 0 near the line."""
    (x, y), (end_x, end_y) = start, end
    area = (end_x - x) * (point[1] - y) - (end_y - y) * (point[0] - x)
    limit = _NEAR * dist(start, end)
    return (area > limit) - (area < -limit)


def _is_inside(point: _Point, ring: Sequence[_Point]) -> bool:
    """Return whether a point is inside a ring that it is not on."""
    is_inside = False
    for start, end in zip(ring, [*ring[1:], *ring[:1]], strict=True):
        if (start[1] > point[1]) != (end[1] > point[1]):
            upward = end[1] > start[1]
            is_inside ^= (_side(start, end, point) > 0) == upward
    return is_inside


_SOUND: dict[str, Callable[[Any], bool]] = {
    "LineString": lambda line: len(line) > 1,
    "MultiLineString": lambda lines: all(len(line) > 1 for line in lines),
    "Polygon": _is_simple,
    "MultiPolygon": lambda polygons: all(map(_is_simple, polygons)),
}
