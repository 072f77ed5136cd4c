"""PLY files whose structure is legal but rare, and polygons of any format that are concave."""

import json
import struct
import time
from typing import Any

import numpy as np
import pytest

from backend.processing.inspection import inspect
from backend.processing.measurements import Facts
from backend.processing.readers.polygons import triangle_order
from backend.processing.scene import Floats, Indices, RefusedError
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset, facts_without_pictures

Rows = list[list[Any]]
_CODES = {"char": "b", "uchar": "B", "short": "h", "int": "i", "uint": "I", "float": "f"}
SQUARE = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0))
FACES = [[[0, 1, 2]], [[1, 3, 2]]]
FORMS = ("ascii", "binary_little_endian", "binary_big_endian")


def ply(
    form: str, *elements: tuple[str, list[str], Rows], end: str = "\n", head: str = ""
) -> bytes:
    """A PLY file; of a list property a row has a list, whose length is written before it."""
    lines = ["ply", f"format {form} 1.0", *([head] if head else [])]
    for name, properties, rows in elements:
        lines += [f"element {name} {len(rows)}", *(f"property {item}" for item in properties)]
    header = (end.join([*lines, "end_header"]) + end).encode()
    rows_of = [
        (cell.split(), row) for _, each_of, rows in elements for cell, row in _cells(each_of, rows)
    ]
    if form == "ascii":
        texts = [
            str(len(v)) + "".join(f" {x}" for x in v) if t[0] == "list" else str(v)
            for t, v in rows_of
        ]
        return header + end.join(texts).encode() + end.encode()
    order = "<" if "little" in form else ">"
    return header + b"".join(_packed(order, types, value) for types, value in rows_of)


def _cells(properties: list[str], rows: Rows) -> list[tuple[str, Any]]:
    return [pair for row in rows for pair in zip(properties, row, strict=True)]


def _packed(order: str, types: list[str], value: Any) -> bytes:
    if types[0] != "list":
        return struct.pack(order + _CODES[types[0]], value)
    return struct.pack(order + _CODES[types[1]], len(value)) + struct.pack(
        f"{order}{len(value)}{_CODES[types[2]]}", *value
    )


def vertices(*, before: int | None = None, after: int | None = None) -> tuple[str, list[str], Rows]:
    """The corners of a square, with a list of numbers before or after the coordinates.

    The lists have a number of entries; 0 for different numbers.
    """
    properties = ["float x", "float y", "float z"]
    rows: Rows = [list(corner) for corner in SQUARE]
    if before is not None:
        properties = ["list uchar float weights", *properties]
        rows = [[[0.5] * (before or i), *row] for i, row in enumerate(rows)]
    if after is not None:
        properties = [*properties, "list uchar int links"]
        rows = [[*row, [7] * (after or i)] for i, row in enumerate(rows)]
    return "vertex", properties, rows


def read(data: bytes) -> Facts:
    return facts_without_pictures("a.ply", data)


def assert_square(facts: Facts, case: object) -> None:
    wanted = {"triangles": 2, "vertices": 4, "sizeX": 1.0, "sizeY": 1.0, "sizeZ": 0.0, "area": 1.0}
    assert {key: facts.get(key) for key in wanted} == wanted, (case, facts)


FACE = ("face", ["list uchar int vertex_indices"], FACES)


@pytest.mark.parametrize("form", FORMS)
def test_lists_of_vertices_are_passed_over(form: str) -> None:
    for lists in (
        {"before": 2},
        {"after": 3},
        {"before": 0},
        {"after": 0},
        {"before": 1, "after": 0},
    ):
        assert_square(read(ply(form, vertices(**lists), FACE)), lists)


@pytest.mark.parametrize("form", FORMS)
def test_other_elements_and_lists_are_passed_over(form: str) -> None:
    ids: Rows = [[1, [2, 3]], [4, [5]]]
    material = ("material", ["uchar shade", "list uchar int ids"], ids)
    face = (
        "face",
        ["uchar flag", "list uchar float rest", "list uchar int vertex_index", "short end"],
    )
    for rests in ([[1.0], [2.0]], [[], [3.0, 4.0]]):
        rows: Rows = [[1, rest, *item, 5] for rest, item in zip(rests, FACES, strict=True)]
        for order in ((material, vertices(), (*face, rows)), (vertices(), (*face, rows), material)):
            assert_square(read(ply(form, *order)), [item[0] for item in order])


@pytest.mark.parametrize("form", FORMS)
def test_strips_of_triangles_restart_at_an_index_below_zero(form: str) -> None:
    properties = ["list uchar int vertex_indices"]
    for strips in ([[[0, 1, 2, 3]]], [[[0, 1, 2, -1, 1, 3, 2]]], [[[0, 1, 2]], [[1, 3, 2]]]):
        assert_square(read(ply(form, vertices(), ("tristrips", properties, strips))), strips)


def test_rows_may_share_lines_and_a_list_that_no_vertex_has_is_passed_over() -> None:
    # A closed strip around a tetrahedron: its volume is right only if all faces look outwards.
    corners: Rows = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    element = ("vertex", ["float x", "float y", "float z"], corners)
    strip: Rows = [[[0, 2, 1, 3, 0, 2]]]
    result = read(ply("ascii", element, ("tristrips", ["list int int vertex_indices"], strip)))
    assert result["volume"] == pytest.approx(1 / 6)
    whole = samples.cube_ply(binary=False)
    header, _, body = whole.partition(b"end_header\n")
    for space in (b" ", b"\n", b"\r\n\t"):
        result = read(header + b"end_header\n" + space.join(body.split()))
        assert result["volume"] == 1.0, space
    for form in FORMS:
        data = ply(form, vertices())
        wrong = data.replace(b"end_header", b"property list uchar uint vertex_indices\nend_header")
        facts = read(wrong)
        assert (facts.get("points"), facts.get("sizeX")) == (4, 1.0), (form, facts)


@pytest.mark.parametrize("form", FORMS)
def test_line_ends_and_a_byte_order_mark_change_nothing(form: str) -> None:
    # The first byte of the content is that of a line end.
    face = ("face", ["list uchar int vertex_indices"], FACES)
    first = ("other", ["uchar value"], [[10]])
    for end in ("\n", "\r\n", "\r"):
        for mark in (b"", b"\xef\xbb\xbf"):
            assert_square(read(mark + ply(form, first, vertices(), face, end=end)), (end, mark))


@pytest.mark.parametrize("form", FORMS)
def test_coordinates_of_textures_at_corners_are_read(form: str) -> None:
    coordinates = [[0.0, 0.0, 1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]]
    properties = ["list uchar int vertex_indices", "list uchar float texcoord"]
    faces: Rows = [[*face, uv] for face, uv in zip(FACES, coordinates, strict=True)]
    data = ply(form, vertices(), ("face", properties, faces), head="comment TextureFile a b.png")
    result = inspect("a.ply", data, Asset(**{"a b__png": samples.png()}))
    assert result.facts["texturesFound"] == 1
    assert (result.facts["triangles"], result.facts.get("upAxis")) == (2, None)
    assert result.glb is not None
    document = json.loads(result.glb[20 : 20 + struct.unpack_from("<I", result.glb, 12)[0]])
    assert "TEXCOORD_0" in document["meshes"][0]["primitives"][0]["attributes"]
    assert document["images"]


@pytest.mark.parametrize("form", FORMS)
def test_truncated_and_wrong_lists_are_refused_with_the_reason(form: str) -> None:
    data = ply(form, vertices(after=0), FACE)
    for cut in (4, 30, 60):
        reason = str(read(data[:-cut]).get("refused"))
        assert "truncated" in reason, (cut, reason)
    negative: Rows = [[[*corner]] for corner in SQUARE]
    result = read(ply(form, ("vertex", ["list char float x"], negative), FACE))
    assert result == {"refused": "contains no geometry"}


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


def _areas(points: Floats, triangles: Indices) -> Floats:
    result, two, three = (points[triangles[:, i]] for i in range(3))
    return np.cross(two - result, three - result) / 2


def test_polygons_without_area_remain_fans_and_others_keep_their_direction() -> None:
    points = np.array(
        [[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [np.nan, 0, 0], [1e300, 1e300, 0]]
    )
    for corners in ([0, 1, 2, 3, 0], [0, 1, 2, 4, 5], [0, 99, 2, -1, 3], [5, 5, 5, 5, 5]):
        order = triangle_order(np.array(corners), np.array([5]), points)
        assert order.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4]], corners
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
