"""PLY files whose structure is legal but rare."""

import json
import struct
from typing import Any

import pytest

from backend.processing.inspection import inspect
from backend.processing.measurements import Facts
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
        lines += [f"element {name} {len(rows)}", *(f"property {each}" for each in properties)]
    header = (end.join([*lines, "end_header"]) + end).encode()
    rows_of = [
        (each.split(), row) for _, each_of, rows in elements for each, row in _cells(each_of, rows)
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
        rows: Rows = [[1, rest, *each, 5] for rest, each in zip(rests, FACES, strict=True)]
        for order in ((material, vertices(), (*face, rows)), (vertices(), (*face, rows), material)):
            assert_square(read(ply(form, *order)), [each[0] for each in order])


@pytest.mark.parametrize("form", FORMS)
def test_strips_of_triangles_restart_at_an_index_below_zero(form: str) -> None:
    properties = ["list uchar int vertex_indices"]
    for strips in ([[[0, 1, 2, 3]]], [[[0, 1, 2, -1, 1, 3, 2]]], [[[0, 1, 2]], [[1, 3, 2]]]):
        assert_square(read(ply(form, vertices(), ("tristrips", properties, strips))), strips)


def test_rows_may_share_lines_and_triangles_of_a_strip_are_turned() -> None:
    # A closed strip around a tetrahedron: its volume is right only if all faces look outwards.
    corners: Rows = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    element = ("vertex", ["float x", "float y", "float z"], corners)
    strip: Rows = [[[0, 2, 1, 3, 0, 2]]]
    found = read(ply("ascii", element, ("tristrips", ["list int int vertex_indices"], strip)))
    assert found["volume"] == pytest.approx(1 / 6)
    whole = samples.cube_ply(binary=False)
    header, _, body = whole.partition(b"end_header\n")
    for space in (b" ", b"\n", b"\r\n\t"):
        found = read(header + b"end_header\n" + space.join(body.split()))
        assert found["volume"] == 1.0, space


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
    found = inspect("a.ply", data, Asset(**{"a b__png": samples.png()}))
    assert found.facts["texturesFound"] == 1
    assert (found.facts["triangles"], found.facts.get("upAxis")) == (2, None)
    assert found.glb is not None
    document = json.loads(found.glb[20 : 20 + struct.unpack_from("<I", found.glb, 12)[0]])
    assert "TEXCOORD_0" in document["meshes"][0]["primitives"][0]["attributes"]
    assert document["images"]


@pytest.mark.parametrize("form", FORMS)
def test_truncated_and_wrong_lists_are_refused_with_the_reason(form: str) -> None:
    data = ply(form, vertices(after=0), FACE)
    for cut in (4, 30, 60):
        reason = str(read(data[:-cut]).get("refused"))
        assert "truncated" in reason, (cut, reason)
    negative: Rows = [[[*corner]] for corner in SQUARE]
    found = read(ply(form, ("vertex", ["list char float x"], negative), FACE))
    assert found == {"refused": "contains no geometry"}


def test_a_declared_list_that_no_vertex_has_is_passed_over() -> None:
    for form in FORMS:
        data = ply(form, vertices())
        wrong = data.replace(b"end_header", b"property list uchar uint vertex_indices\nend_header")
        facts = read(wrong)
        assert (facts.get("points"), facts.get("sizeX")) == (4, 1.0), (form, facts)
