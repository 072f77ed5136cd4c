"""Concave polygons are filled, and nothing outside of them."""

import time

import numpy as np
import pytest

from backend.processing.readers.polygons import triangle_order
from backend.processing.scene import Floats, Indices, RefusedError
from tests.unit.processing.samples import facts_without_pictures
from tests.unit.processing.test_ply import Rows, ply

L = ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))
DART = ((0, 0), (2, 0), (0.5, 0.5), (0, 2))
COMB = (
    (0, 0),
    (5, 0),
    (5, 2),
    (4, 2),
    (4, 1),
    (3, 1),
    (3, 2),
    (2, 2),
    (2, 1),
    (1, 1),
    (1, 2),
    (0, 2),
)
# Corners on straight edges, and one twice.
DOTTED = ((0, 0), (1, 0), (2, 0), (2, 1), (1.5, 1), (1, 1), (1, 1), (1, 2), (0, 2), (0, 1))
AREAS = {L: 3.0, DART: 1.0, COMB: 8.0, DOTTED: 3.0}
_TURNS = (
    np.eye(3),
    np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]),
)


def model(kind: str, vertices: Floats, polygons: list[list[int]]) -> bytes:
    if kind == "obj":
        lines = "".join(f"v {x:g} {y:g} {z:g}\n" for x, y, z in vertices)
        return (
            lines + "".join("f " + " ".join(str(c + 1) for c in p) + "\n" for p in polygons)
        ).encode()
    if kind == "off":
        lines = f"OFF\n{len(vertices)} {len(polygons)} 0\n"
        lines += "".join(f"{x:g} {y:g} {z:g}\n" for x, y, z in vertices)
        return (lines + "".join(f"{len(p)} {' '.join(map(str, p))}\n" for p in polygons)).encode()
    rows: Rows = [[p] for p in polygons]
    corners = ("vertex", ["float x", "float y", "float z"], vertices.tolist())
    form = "ascii" if kind == "ascii" else "binary_little_endian"
    return ply(form, corners, ("face", ["list uchar int vertex_indices"], rows))


def prism(outline: tuple[tuple[float, float], ...], first: int) -> tuple[Floats, list[list[int]]]:
    count = len(outline)
    flat = np.array(outline, np.float64)
    vertices = np.vstack([np.column_stack([flat, np.full(count, z)]) for z in (0.0, 1.0)])
    ring = [(first + i) % count for i in range(count)]
    sides = [[i, (i + 1) % count, count + (i + 1) % count, count + i] for i in range(count)]
    return vertices, [ring[::-1], [count + i for i in ring], *sides]


@pytest.mark.parametrize("kind", ["obj", "ascii", "binary", "off"])
def test_a_concave_polygon_has_its_area_from_each_first_corner(kind: str) -> None:
    for outline, area in AREAS.items():
        if kind == "off" and len(outline) > 9:  # assimp leaves out such polygons of OFF
            continue
        for first in range(len(outline)):
            ring = [*range(first, len(outline)), *range(first)]
            flat = np.column_stack([np.array(outline, np.float64), np.zeros(len(outline))])
            extension = kind if kind in {"obj", "off"} else "ply"
            facts = facts_without_pictures(f"a.{extension}", model(kind, flat, [ring]))
            assert facts["area"] == pytest.approx(area), (outline, first)


@pytest.mark.parametrize("kind", ["obj", "binary"])
def test_a_concave_prism_is_closed(kind: str) -> None:
    for dotted, area in AREAS.items():
        outline = tuple(dict.fromkeys(dotted))  # corners on edges are those of the sides too
        for first in range(len(outline)):
            data, case = model(kind, *prism(outline, first)), (outline, first)
            facts = facts_without_pictures(f"a.{kind if kind == 'obj' else 'ply'}", data)
            assert facts["watertight"] is True, case
            assert facts["volume"] == pytest.approx(area), case
            if outline == L:
                assert facts["area"] == pytest.approx(14)


def test_triangles_keep_the_direction_of_their_polygon() -> None:
    for turn in _TURNS:
        for outline, area in AREAS.items():
            for points in (outline, outline[::-1]):
                flat = (
                    np.column_stack([np.array(points, np.float64), np.full(len(points), 3.0)])
                    @ turn.T
                )
                whole = np.cross(flat - flat[0], np.roll(flat - flat[0], -1, 0)).sum(0) / 2
                corners = np.arange(len(flat))
                order = triangle_order(corners, np.array([len(flat)]), flat)
                areas = _areas(flat, order)
                assert np.linalg.norm(whole) == pytest.approx(area)
                assert (areas @ whole >= -1e-12).all(), points
                assert areas.sum(0) == pytest.approx(whole), points


def _areas(points: Floats, triangles: Indices) -> Floats:
    one, two, three = (points[triangles[:, i]] for i in range(3))
    return np.cross(two - one, three - one) / 2


def test_polygons_without_area_or_with_wrong_corners_remain_fans() -> None:
    points = np.array(
        [[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [np.nan, 0, 0], [1e300, 1e300, 0]]
    )
    for corners in ([0, 1, 2, 3, 0], [0, 1, 2, 4, 5], [0, 99, 2, -1, 3], [5, 5, 5, 5, 5]):
        order = triangle_order(np.array(corners), np.array([5]), points)
        assert order.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4]], corners


def test_many_corners_take_seconds_or_are_refused() -> None:
    """A strip with a serrated edge, whose time grows with the square of its corners."""
    for corners in (10_000, 1_000_000):
        x = np.arange(corners // 2, dtype=np.float64)
        lower = np.column_stack([x, 0.5 * (x % 2), 0 * x])
        points = np.vstack([lower, (lower + np.array([0, 1, 0]))[::-1]])
        started, arguments = time.process_time(), (np.arange(corners), np.array([corners]), points)
        if corners > 100_000:
            with pytest.raises(RefusedError, match="more than 100000 corners"):
                triangle_order(*arguments)
        else:
            areas = _areas(points, triangle_order(*arguments))
            assert (len(areas), areas[:, 2].min() >= 0) == (corners - 2, True)
            assert areas[:, 2].sum() == pytest.approx(corners // 2 - 1)
        assert time.process_time() - started < 10
