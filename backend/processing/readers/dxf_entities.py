"""Entities of DXF drawings: their geometry, as Autodesk's DXF reference defines it.

Lines, 3D faces and points of 3D polylines are in coordinates of the drawing or block. Flat entities
are in coordinates of their own plane, which the entity's normal defines (group 210).
"""

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from backend.processing.readers.soundness import line_at, no_number, number
from backend.processing.scene import Floats, RefusedError

# Arcs are drawn in steps of 11.25 degrees, so that a circle reaches its extent on each axis.
_STEP = math.pi / 16
# Bits of group code 70 of POLYLINE and of VERTEX in the DXF Reference.
_CLOSED, _SPLINE_FIT, _IS_3D, _IS_MESH, _CLOSED_N, _IS_POLYFACE = 1, 4, 8, 16, 32, 64
_FITTED, _CONTROL, _PLACE = 8, 16, 64
# A normal this close to the z axis has another x axis: the reference's arbitrary axis algorithm.
_NEAR_Z = 1 / 64

Point = tuple[float, float, float]


class Tag(NamedTuple):
    """A group of a file: its code, its value, and where the value is."""

    code: int
    value: bytes
    at: int


@dataclass
class Entity:
    """An entity, with its groups and the text that it stands in."""

    kind: str
    text: bytes
    tags: list[Tag] = field(default_factory=list[Tag])

    def value(self, code: int) -> bytes:
        return next((tag.value for tag in self.tags if tag.code == code), b"")

    def number(self, code: int, default: float = 0.0) -> float:
        """Return the first number with a group code.

        Raises:
            RefusedError: it is not a number.
        """
        return next((self._number(tag) for tag in self.tags if tag.code == code), default)

    def whole(self, code: int) -> int:
        """Return a whole number; one that is not finite or too large is 0."""
        number = self.number(code)
        return int(number) if abs(number) < 1 << 31 else 0

    def point(self, first: int) -> Point:
        """Return the point whose x has the group code `first`."""
        return self.number(first), self.number(first + 10), self.number(first + 20)

    def rows(self, codes: Sequence[int]) -> list[list[float]]:
        """Return the numbers of repeated groups; a row begins with the first code."""
        rows: list[list[float]] = []
        for tag in self.tags:
            if tag.code == codes[0]:
                rows.append([0.0] * len(codes))
            if rows and tag.code in codes:
                rows[-1][codes.index(tag.code)] = self._number(tag)
        return rows

    def has(self, code: int) -> bool:
        return any(tag.code == code for tag in self.tags)

    def plane(self) -> Floats:
        """Return the axes of the entity's plane, as columns."""
        normal = np.array(self.point(210) if self.has(210) else (0.0, 0.0, 1.0))
        length = float(np.linalg.norm(normal))
        if not (math.isfinite(length) and length):
            return np.eye(3)
        normal /= length
        near = abs(normal[0]) < _NEAR_Z and abs(normal[1]) < _NEAR_Z
        across = np.cross((0.0, 1.0, 0.0) if near else (0.0, 0.0, 1.0), normal)
        across /= np.linalg.norm(across)
        return np.stack([across, np.cross(normal, across), normal], 1)

    def _number(self, tag: Tag) -> float:
        value = number(tag.value.replace(b",", b"."))
        if value is None:
            raise no_number(line_at(self.text, tag.at), tag.value)
        return value


@dataclass
class Geometry:
    """Lines, as six numbers each, and polygons, with the numbers of their corners."""

    lines: "array[float]" = field(default_factory=lambda: array("d"))
    corners: "array[float]" = field(default_factory=lambda: array("d"))
    counts: "array[int]" = field(default_factory=lambda: array("q"))

    def polyline(self, points: Sequence[Point], *, closed: bool) -> None:
        following = [*points[1:], points[0]] if closed and len(points) > 1 else points[1:]
        for start, other in zip(points, following, strict=False):
            self.lines.extend((*start, *other))

    def polygon(self, points: Sequence[Point]) -> None:
        self.counts.append(len(points))
        for point in points:
            self.corners.extend(point)


def _line(entity: Entity, geometry: Geometry) -> None:
    geometry.lines.extend((*entity.point(10), *entity.point(11)))


def _face(entity: Entity, geometry: Geometry) -> None:
    points = [entity.point(first) for first in (10, 11, 12)]
    if entity.has(13) and entity.point(13) != points[2]:
        points.append(entity.point(13))
    geometry.polygon(points)


def _solid(entity: Entity, geometry: Geometry) -> None:
    """A flat face, whose third and fourth corners are stored in the other order."""
    points = [entity.point(first) for first in (10, 11, 12)]
    if entity.has(13) and entity.point(13) != points[2]:
        points.insert(2, entity.point(13))
    geometry.polygon(_place(entity, points))


def _arc(entity: Entity, geometry: Geometry) -> None:
    center, radius = entity.point(10), entity.number(40)
    begin, end = (math.radians(entity.number(code)) for code in (50, 51))
    if entity.kind == "CIRCLE":
        begin, end = 0.0, math.tau
    points = _turn(center, radius, begin, end)
    geometry.polyline(_place(entity, points), closed=False)


def _light_polyline(entity: Entity, geometry: Geometry) -> None:
    height = entity.number(38)
    rows = [((x, y, height), bulge) for x, y, bulge in entity.rows((10, 20, 42))]
    points = _bulge_points(rows, closed=bool(entity.whole(70) & _CLOSED))
    geometry.polyline(_place(entity, points), closed=False)


DRAWN: Mapping[str, Callable[[Entity, Geometry], None]] = {
    "3DFACE": _face,
    "3DLINE": _line,
    "ARC": _arc,
    "CIRCLE": _arc,
    "LINE": _line,
    "LWPOLYLINE": _light_polyline,
    "SOLID": _solid,
    "TRACE": _solid,
}
"""The functions that draw the entities of one record, by kind."""


def draw_polyline(polyline: Entity, vertices: Sequence[Entity], geometry: Geometry) -> None:
    """Draw a polyline, a mesh of rows and columns, or a mesh of faces.

    Raises:
        RefusedError: a face has a vertex that does not exist, or a mesh another number of them.
    """
    flags = polyline.whole(70)
    if flags & _IS_POLYFACE:
        _polyface(vertices, geometry)
    elif flags & _IS_MESH:
        _mesh(polyline, flags, vertices, geometry)
    else:
        drawn = [vertex for vertex in vertices if not vertex.whole(70) & _CONTROL]
        if flags & _IS_3D:
            points = [vertex.point(10) for vertex in drawn]
            geometry.polyline(points, closed=bool(flags & _CLOSED))
            return
        height = polyline.number(30)
        rows = [((v.number(10), v.number(20), height), v.number(42)) for v in drawn]
        points = _bulge_points(rows, closed=bool(flags & _CLOSED))
        geometry.polyline(_place(polyline, points), closed=False)


def _polyface(vertices: Sequence[Entity], geometry: Geometry) -> None:
    points = [vertex.point(10) for vertex in vertices if vertex.whole(70) & _PLACE]
    for vertex in vertices:
        if vertex.whole(70) & _PLACE:
            continue
        # The sign says whether the edge is visible.
        named = [abs(vertex.whole(code)) for code in (71, 72, 73, 74)]
        chosen = [index for index in named if index]
        if any(index > len(points) for index in chosen):
            raise RefusedError(
                f"a face of a polyface mesh has vertex {max(chosen)}, there are {len(points)}"
            )
        if len(chosen) > 2:
            geometry.polygon([points[index - 1] for index in chosen])
        elif len(chosen) == 2:
            geometry.polyline([points[index - 1] for index in chosen], closed=False)


def _mesh(polyline: Entity, flags: int, vertices: Sequence[Entity], geometry: Geometry) -> None:
    is_fitted = bool(flags & _SPLINE_FIT)
    kind = _FITTED if is_fitted else 0
    points = [v.point(10) for v in vertices if v.whole(70) & (_FITTED | _CONTROL) == kind]
    rows, columns = (polyline.whole(code) for code in ((73, 74) if is_fitted else (71, 72)))
    if rows < 1 or columns < 1 or rows * columns != len(points):
        raise RefusedError(
            f"a mesh declares {rows} rows of {columns} vertices, the file has {len(points)}"
        )
    for row in range(rows if flags & _CLOSED else rows - 1):
        for column in range(columns if flags & _CLOSED_N else columns - 1):
            below, right = (row + 1) % rows, (column + 1) % columns
            places = ((row, column), (row, right), (below, right), (below, column))
            geometry.polygon([points[r * columns + c] for r, c in places])


def _place(entity: Entity, points: Sequence[Point]) -> Sequence[Point]:
    """Return points of the entity's plane in coordinates of the drawing."""
    if not entity.has(210) or not points:
        return points
    moved: list[Point] = (np.array(points) @ entity.plane().T).tolist()
    return moved


def _turn(center: Point, radius: float, begin: float, end: float) -> list[Point]:
    """Return the points of an arc, counterclockwise; both ends, and each step between them."""
    if not (math.isfinite(begin) and math.isfinite(end)):
        return [(math.nan, math.nan, math.nan)] * 2  # a line that is left out, and counted
    end = begin + ((end - begin) % math.tau or math.tau)
    first = math.floor(begin / _STEP + 1e-9) + 1
    steps = range(first, math.ceil(end / _STEP - 1e-9))
    x, y, z = center
    angles = [begin, *(step * _STEP for step in steps), end]
    return [(x + radius * math.cos(angle), y + radius * math.sin(angle), z) for angle in angles]


def _bulge_points(rows: Sequence[tuple[Point, float]], *, closed: bool) -> list[Point]:
    """Return the points of a polyline whose segments may be arcs.

    A bulge is the tangent of a quarter of the arc's angle; negative, the arc runs clockwise.
    """
    points = [row[0] for row in rows[:1]]
    following = [*rows[1:], *(rows[:1] if closed else ())]
    for (start, bulge), (other, _) in zip(rows, following, strict=False):
        if bulge and math.isfinite(bulge) and start != other:
            points += _segment(start, other, bulge)[1:-1]
        points.append(other)
    return points


def _segment(start: Point, other: Point, bulge: float) -> list[Point]:
    (x, y, z), (to_x, to_y, _) = start, other
    away = (1 / bulge - bulge) / 4  # from the middle of the chord, in chords
    center = (x + to_x) / 2 - away * (to_y - y), (y + to_y) / 2 + away * (to_x - x), z
    radius = math.hypot(x - center[0], y - center[1])
    begin, end = (math.atan2(v - center[1], u - center[0]) for u, v in ((x, y), (to_x, to_y)))
    if bulge < 0:
        begin, end = end, begin
    points = _turn(center, radius, begin, end)
    return points if bulge > 0 else points[::-1]
