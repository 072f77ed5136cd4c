"""Drawings in DXF: entities, blocks, and files that draw too much."""

import math
from typing import Any

import numpy as np
import pytest

from backend.processing.readers import dxf
from backend.processing.render.thumbnail import thumbnail
from backend.processing.scene import RefusedError
from tests.unit.processing.samples import facts_without_pictures

Groups = tuple[tuple[int, object], ...]


def entity(kind: str, *groups: tuple[int, object]) -> str:
    return "".join(f"{code}\n{value}\n" for code, value in ((0, kind), *groups))


def point(x: float, y: float, z: float = 0.0, *, first: int = 10) -> Groups:
    return (first, x), (first + 10, y), (first + 20, z)


def block(name: str, content: str, *base: tuple[int, object]) -> str:
    return entity("BLOCK", (2, name), *(base or point(0, 0))) + content + entity("ENDBLK")


def drawing(*entities: str, blocks: str = "") -> bytes:
    sections = {"BLOCKS": blocks, "ENTITIES": "".join(entities)}
    text = "".join(
        entity("SECTION", (2, name)) + content + entity("ENDSEC")
        for name, content in sections.items()
    )
    return (text + entity("EOF")).encode()


def polyline(flags: int, *vertices: Groups, groups: Groups = ()) -> str:
    rows = "".join(entity("VERTEX", *vertex) for vertex in vertices)
    return entity("POLYLINE", (66, 1), (70, flags), *groups) + rows + entity("SEQEND")


def facts(*entities: str, blocks: str = "") -> dict[str, Any]:
    return dict(facts_without_pictures("a.dxf", drawing(*entities, blocks=blocks)))


def extent(found: dict[str, Any]) -> list[float]:
    return [round(found[name], 6) for name in ("sizeX", "sizeY", "sizeZ")]


def bounds(found: dict[str, Any]) -> list[list[float]]:
    return [[float(n) for n in found[key][1:-1].split(",")] for key in ("boundsMin", "boundsMax")]


LINE = entity("LINE", *point(0, 0), *point(1, 0, first=11))
PATH = (point(0, 0), point(1, 0), point(1, 1, 2), point(0, 5, 2), point(7, 7, 7))


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_a_polyline_has_a_line_for_each_pair_of_its_vertices(count: int) -> None:
    for flags, lines in ((8, count - 1), (9, count)):
        result = facts(polyline(flags, *PATH[:count]))
        assert (result["lines"], result["vertices"]) == (lines, count)
        assert extent(result)[0] == (7 if count == 5 else 1)


def test_polylines_have_the_height_of_their_first_record_and_bulges_are_arcs() -> None:
    flat = polyline(0, point(0, 0, 9), point(2, 0, 9), groups=point(0, 0, 4))
    assert facts(flat)["boundsMax"] == "[2.0, 0.0, 4.0]"
    rows = [(10, 0), (20, 0), (10, 3), (20, 0), (10, 3), (20, 2)]
    result = facts(entity("LWPOLYLINE", (90, 3), (70, 1), (38, 5), *rows))
    assert (result["lines"], result["boundsMax"]) == (3, "[3.0, 2.0, 5.0]")
    # A half circle to the right of the way from (0, 0) to (2, 0), and back.
    result = facts(entity("LWPOLYLINE", (70, 1), (10, 0), (20, 0), (42, 1), (10, 2), (20, 0)))
    assert extent(result) == [2, 1, 0]
    assert result["boundsMin"] == "[0.0, -1.0, 0.0]"
    result = facts(polyline(1, (*point(0, 0), (42, -1)), (*point(2, 0), (42, -1))))
    assert extent(result) == [2, 2, 0]


def test_circles_and_arcs_reach_their_extent() -> None:
    result = facts(entity("CIRCLE", *point(1, 2, 3), (40, 5)))
    assert (result["lines"], extent(result)) == (32, [10, 10, 0])
    result = facts(entity("ARC", *point(0, 0), (40, 1), (50, 350), (51, -260)))  # to 100 degrees
    assert result["boundsMax"] == "[1.0, 1.0, 0.0]"
    # The plane of the normal -z is seen from behind.
    result = facts(
        entity("ARC", *point(3, 0), (40, 1), (50, 0), (51, 90), (210, 0), (220, 0), (230, -1))
    )
    assert result["boundsMin"] == "[-4.0, 0.0, 0.0]"


def test_meshes_of_rows_and_columns_and_of_faces_are_triangles() -> None:
    rows = [point(row, column, row * column) for row in range(4) for column in range(3)]
    for flags, triangles in ((16, 12), (17, 16), (48, 18), (49, 24)):
        result = facts(polyline(flags, *rows, groups=((71, 4), (72, 3))))
        assert (result["triangles"], result["vertices"], result["lines"]) == (triangles, 12, 0)
    corners = [(*point(x, y), (70, 192)) for x, y in ((0, 0), (2, 0), (2, 3), (0, 3))]
    face = (*point(0, 0), (70, 128), (71, 1), (72, -2), (73, 3), (74, 4))
    result = facts(polyline(64, *corners, face))
    assert (result["triangles"], result["area"], extent(result)) == (2, 6, [2, 3, 0])


def test_the_corners_of_a_solid_are_in_another_order_than_those_of_a_face() -> None:
    def corners(*places: tuple[float, float]) -> list[tuple[int, object]]:
        return [item for n, (x, y) in enumerate(places) for item in point(x, y, first=10 + n)]

    face = entity("3DFACE", *corners((0, 0), (2, 0), (2, 3), (0, 3)))
    solid = entity("SOLID", *corners((0, 0), (2, 0), (0, 3), (2, 3)))
    concave = entity("3DFACE", *corners((0, 0), (4, 0), (1, 1), (0, 4)))
    assert [facts(item)["area"] for item in (face, solid, concave)] == [6, 6, 4]
    assert facts(entity("3DFACE", *corners((0, 0), (2, 0), (2, 3))))["triangles"] == 1


def test_blocks_are_placed_and_what_is_not_read_is_named_also_in_them() -> None:
    blocks = block("part", LINE, *point(1, 0)) + block("pair", entity("INSERT", (2, "PART")) * 2)
    result = facts(entity("INSERT", (2, "part"), *point(5, 0), (41, 2), (50, 90)), blocks=blocks)
    assert result["lines"] == 1
    assert np.allclose(bounds(result), [[5, -2, 0], [5, 0, 0]])
    grid = ((70, 3), (71, 2), (44, 10), (45, 7))
    result = facts(entity("INSERT", (2, "part"), *point(1, 0), *grid), blocks=blocks)
    assert (result["lines"], extent(result)) == (6, [21, 7, 0])
    result = facts(entity("INSERT", (2, "pair"), *point(0, 0, 4)), blocks=blocks)
    assert (result["lines"], result["boundsMax"]) == (2, "[0.0, 0.0, 4.0]")
    assert facts(LINE, blocks=blocks)["lines"] == 1
    assert facts_without_pictures("a.dxf", nested(64, 1))["lines"] == 1
    blocks = block("used", entity("TEXT")) + block("other", entity("HATCH"))
    inserts = (entity("INSERT", (2, "used")), entity("INSERT", (2, "outside")))
    result = facts(LINE, entity("SPLINE") * 2, *inserts, blocks=blocks)
    assert result["leftOut"] == (
        "1 INSERT of a block that the file does not have and 2 SPLINE and 1 TEXT, "
        "which are not read"
    )
    refused = facts(entity("SPLINE"), entity("MESH"))["refused"]
    assert refused.startswith("this drawing has only 1 MESH and 1 SPLINE, which are not read: ")
    assert facts()["refused"] == "this drawing has no lines, polylines or 3D faces"


def test_layouts_and_numbers_that_are_not_finite_are_left_out() -> None:
    sheet = entity("LINE", (67, 1), *point(0, 0), *point(99, 99, first=11))
    assert extent(facts(LINE, sheet)) == [1, 0, 0]
    wild = entity("LINE", *point(math.nan, 0), *point(1, 0, first=11))
    result = facts(LINE, wild, entity("ARC", *point(0, 0), (40, 1), (50, math.inf), (51, 0)))
    assert result["lines"] == 1
    assert result["leftOut"] == "2 of 3 lines have a vertex that is not finite"


def nested(depth: int, copies: int) -> bytes:
    blocks = block("b0", LINE)
    for level in range(1, depth):
        blocks += block(f"b{level}", entity("INSERT", (2, f"b{level - 1}")) * copies)
    return drawing(entity("INSERT", (2, f"b{depth - 1}")), blocks=blocks)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (nested(9, 10), "blocks draw more than 12000000 vertices"),
        (nested(66, 1), "blocks are nested more than 64 deep"),
        (
            drawing(entity("INSERT", (2, "A")), blocks=block("a", entity("INSERT", (2, "a")))),
            "the block 'A' contains itself",
        ),
        (
            drawing(entity("INSERT", (2, "a"), (70, 9999), (71, 9999)), blocks=block("a", LINE)),
            "a block is placed 99980001 times, more than 1000000",
        ),
        (
            drawing(polyline(16, point(0, 0), groups=((71, 2), (72, 2)))),
            "a mesh declares 2 rows of 2 vertices, the file has 1",
        ),
        (
            drawing(polyline(64, (*point(0, 0), (70, 128), (71, 1), (72, 2), (73, 3)))),
            "a face of a polyface mesh has vertex 3, there are 0",
        ),
        (drawing(LINE.replace("10\n0\n", "1x\n0\n")), "line 13: '1x' is not a group code"),
        (drawing(entity("CIRCLE", *point(0, 0), (40, "wide"))), "line 20: 'wide' is not a number"),
    ],
)
def test_a_drawing_that_cannot_be_drawn_is_refused_with_the_reason(
    data: bytes, reason: str
) -> None:
    with pytest.raises(RefusedError) as refusal:
        dxf.read(data)
    assert str(refusal.value) == reason


def luminance(color: Any) -> float:
    """Return the relative luminance of WCAG 2.2."""
    part = np.asarray(color[:3]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


# `--stage` in web/src/ui/styles.css
@pytest.mark.parametrize("stage", [(0xEE, 0xF1, 0xF5), (0x1A, 0x1E, 0x26)])
def test_lines_have_a_contrast_of_three_to_the_light_and_to_the_dark_page(
    stage: tuple[int, int, int],
) -> None:
    scene = dxf.read(drawing(LINE))
    picture = thumbnail(scene.parts, scene.materials, scene.up)
    assert picture is not None
    pixels = np.asarray(picture).reshape(-1, 4)
    drawn = luminance(pixels[pixels[:, 3] == 255][0])
    darker, lighter = sorted((drawn, luminance(stage)))
    assert (lighter + 0.05) / (darker + 0.05) >= 3
