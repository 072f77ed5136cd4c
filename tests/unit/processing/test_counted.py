"""Facts count valid elements, and files that declare more than they hold are refused."""

import io
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from backend.processing import limits
from backend.processing.files import State
from backend.processing.inspection import inspect
from tests.unit.processing import samples
from tests.unit.processing.cad import cube_step
from tests.unit.processing.samples import RELATIONS, archive, facts_without_pictures
from tests.unit.processing.test_boxes import BOXES, binary_stl, directx, obj, ply, stl, threemf
from tests.unit.processing.test_headers import FILES, TEXTS

_RED = b"newmtl red\nKd 1 0 0\n"
_OFF = (
    "OFF\n8 12 0\n"
    + "".join(f"{x:g} {y:g} {z:g}\n" for x, y, z in samples.CORNERS)
    + "".join("3 {} {} {}\n".format(*triangle) for triangle in samples.TRIANGLES)
)


def test_models_without_materials_have_none_in_any_format() -> None:
    named = {"ac": 1}  # a file of AC3D names its materials
    files = {case: (name, box) for case, (name, box, _, _) in BOXES.items()}
    files |= {name: (name, (FILES | TEXTS)[name]) for name in ("a.dxf", "a.off")}
    files |= {"step": ("a.step", cube_step())}
    counted = {
        case: facts_without_pictures(name, data if isinstance(data, bytes) else data.encode())
        for case, (name, data) in files.items()
    }
    wrong = {
        case: facts.get("materials", facts)
        for case, facts in counted.items()
        if facts.get("materials") != named.get(case, 0)
    }
    assert wrong == {}


def test_materials_that_a_file_declares_or_uses_are_counted() -> None:
    used = b"mtllib a.mtl\nusemtl red\n" + obj().encode()
    red = "Material { 1.0;0.0;0.0;1.0;; 1.0; 0.0;0.0;0.0;; 0.0;0.0;0.0;; }"
    listed = f"MeshMaterialList {{ 1; 1; 0;\n {red}\n}}\n}}"
    result = {
        "obj": facts_without_pictures("a.obj", used, a__mtl=_RED),
        "obj whose library is missing": facts_without_pictures("a.obj", used),
        "obj with two, one used": facts_without_pictures(
            "a.obj", used, a__mtl=_RED + b"newmtl blue\nKd 0 0 1\n"
        ),
        "x": facts_without_pictures("a.x", (directx().rsplit("}", 1)[0] + listed).encode()),
        "nff": facts_without_pictures("a.nff", b"f 1 0 0 1 0 0 0 0\np 3\n0 0 0\n1 0 0\n0 1 0\n"),
        "glb": facts_without_pictures(
            "a.glb",
            samples.glb(samples.cube_gltf(materials=[{"name": "a"}]), samples.cube_binary()),
        ),
    }
    assert {case: facts.get("materials", facts) for case, facts in result.items()} == {
        "obj": 1,
        "obj whose library is missing": 1,
        "obj with two, one used": 2,
        "x": 1,
        "nff": 1,
        "glb": 1,
    }
    base = '<base name="DefaultMaterial" displaycolor="#FF0000"/>'
    resources = f'<resources><basematerials id="5">{base}</basematerials>'
    with zipfile.ZipFile(io.BytesIO(threemf())) as package:
        model = package.read("3D/m.model").decode()
    model = model.replace("<resources>", resources).replace('id="1"', 'id="1" pid="5" pindex="0"')
    data = archive(("_rels/.rels", RELATIONS), ("3D/m.model", model.encode()))
    assert facts_without_pictures("a.3mf", data)["materials"] == 1


def _ply(face: str) -> str:
    text = ply().replace("element vertex 8", "element vertex 9")
    text = text.replace("element face 12", "element face 13")
    head, _, rest = text.partition("end_header\n")
    lines = rest.splitlines()
    return "\n".join([head + "end_header", *lines[:8], "nan 1 2", *lines[8:], face, ""])


def _binary_stl(third: float) -> bytes:
    facet = struct.pack("<12fH", 0, 0, 0, 0, 0, 0, 1, 0, 0, third, 1, 0, 0)
    whole = binary_stl() + facet
    return whole[:80] + struct.pack("<I", 13) + whole[84:]


_FACET = "facet normal 0 0 0 outer loop vertex 0 0 0 vertex 1 0 0 vertex nan 1 0 endloop endfacet\n"
CLOSED: dict[str, tuple[str, bytes, int]] = {
    "obj, not finite": ("a.obj", obj().encode() + b"v nan 1 2\nf 1 2 9\n", 8),
    "obj, not finite and unused": ("a.obj", obj().encode() + b"v nan 1 2\n", 8),
    "obj, not finite with a corner of its own": (
        "a.obj",
        obj().encode() + b"v nan 1 2\nv 7 7 7\nf 1 10 9\n",
        8,
    ),
    "obj, no vertex": ("a.obj", obj().encode() + b"f 1 2 99\n", 8),
    "ply, not finite": ("a.ply", _ply("3 0 1 8").encode(), 8),
    "ply, no vertex": ("a.ply", _ply("3 0 1 99").encode(), 8),
    "off, not finite": (
        "a.off",
        _OFF.replace("8 12 0", "9 13 0").replace("1 1 1\n", "1 1 1\nnan 1 2\n", 1).encode()
        + b"3 0 1 8\n",
        8,
    ),
    "stl, not finite": ("a.stl", stl().replace("endsolid", _FACET + "endsolid").encode(), 36),
    "binary stl, not finite": ("a.stl", _binary_stl(np.nan), 36),
}


def test_what_is_left_out_is_missing_in_all_other_facts() -> None:
    wrong: dict[str, object] = {}
    for case, (name, data, vertices) in CLOSED.items():
        facts = facts_without_pictures(name, data)
        keys = ("triangles", "vertices", "watertight")
        right = [facts.get(key) for key in keys] == [12, vertices, True]
        if not right or "leftOut" not in facts or "volume" not in facts:
            wrong[case] = facts
    assert wrong == {}


def test_points_and_lines_that_are_not_finite_are_not_counted() -> None:
    facts = facts_without_pictures(
        "a.obj", b"v 0 0 0\nv 1 0 0\nv nan 0 0\nl 1 2\nl 2 3\np 1\np 3\n"
    )
    assert (facts["lines"], facts["points"]) == (1, 1)
    glb = bytearray(samples.cube_binary())
    glb[0:4] = np.float32(np.nan).tobytes()
    facts = facts_without_pictures("a.glb", samples.glb(samples.cube_gltf(), bytes(glb)))
    used = int((samples.TRIANGLES == 0).any(1).sum())
    assert (facts["vertices"], facts["triangles"]) == (7, 12 - used)
    assert facts["watertight"] is False


def test_triangles_beyond_the_count_of_a_binary_stl_are_named() -> None:
    for declared in (0, 6, 11):
        data = binary_stl()
        facts = facts_without_pictures("a.stl", data[:80] + struct.pack("<I", declared) + data[84:])
        error = str(facts.get("refused") or facts.get("leftOut"))
        assert f"declares {declared} triangles, the file has 12" in error
        assert facts.get("triangles", 0) == declared
    assert "leftOut" not in facts_without_pictures("a.stl", binary_stl() + b"\0\0")


def gltf(**changes: Any) -> bytes:
    return samples.encoded(samples.cube_gltf(**changes))


class CubeAsset:
    """An asset with the buffer of the cube."""

    def open(self, name: str) -> tuple[str, State, bytes | None]:
        return name, "found", samples.cube_binary()


def las_records(*, extended: bool = False) -> bytes:
    """A point cloud of only a header, which declares four billion records."""
    head = bytearray(375 if extended else 227)
    head[:4] = b"LASF"
    head[24:26] = bytes((1, 4 if extended else 2))
    records = 0 if extended else 0xFFFFFFFF
    struct.pack_into("<HII", head, 94, len(head), len(head), records)
    struct.pack_into("<BHI", head, 104, 0, 20, 0)
    if extended:
        struct.pack_into("<QIQ", head, 235, len(head), 0xFFFFFFFF, 0)
    return bytes(head)


def las_points(point_format: int) -> bytes:
    """A point cloud of only a header, which declares as many points as are allowed."""
    head = bytearray(las_records())
    struct.pack_into("<I", head, 100, 0)
    struct.pack_into("<BHI", head, 104, point_format, 20, 399_999_999)
    return bytes(head)


def zeros_of_nothing(primitives: int) -> bytes:
    """Meshes of vertices without data: an accessor without a buffer view is zeros."""
    mesh = {"primitives": [{"attributes": {"POSITION": 0}}] * primitives}
    empty = {"componentType": 5126, "count": 1_999_999, "type": "VEC3"}
    return gltf(accessors=[empty], meshes=[mesh], nodes=[{"mesh": 0}])


def shared_nodes() -> bytes:
    nodes: list[dict[str, Any]] = [{"children": [n + 1] * 64} for n in range(300)]
    return gltf(nodes=[*nodes, {"mesh": 0}])


def instances() -> bytes:
    """A small file with 2 to the power of 40 instances: each node has the next one twice."""
    nodes: list[dict[str, Any]] = [{"children": [n + 1, n + 1]} for n in range(40)]
    return gltf(nodes=[*nodes, {"mesh": 0}])


DECLARED: dict[str, tuple[Callable[[], bytes], str]] = {
    "records.las": (las_records, "4294967295 variable records, the file has room for 0"),
    "extended.las": (
        lambda: las_records(extended=True),
        "4294967295 extended variable records, the file has room for 0",
    ),
    "points.las": (lambda: las_points(0), "399999999 points, the file has room for 0"),
    "points.laz": (lambda: las_points(0x80), "399999999 points, the file has room for 0"),
    "zeros.gltf": (lambda: zeros_of_nothing(1), "1999999 elements without data"),
    "zeros2.gltf": (lambda: zeros_of_nothing(1000), "1999999 elements without data"),
    "shared.gltf": (shared_nodes, "its nodes are not a tree"),
    "instances.gltf": (instances, "its nodes are not a tree"),
}
"""Files that declare more than they hold, and what the reason says."""


def test_what_a_header_declares_is_compared_with_the_file_before_it_is_read() -> None:
    reasons = {
        name: inspect(name, made(), CubeAsset()).refused or "read"
        for name, (made, _) in DECLARED.items()
    }
    assert [
        f"{name}: {reasons[name]}"
        for name, (_, output) in DECLARED.items()
        if output not in reasons[name]
    ] == []


def test_vertices_that_many_primitives_share_are_counted_while_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "VERTICES", 1000)
    document = samples.cube_gltf()
    document["meshes"][0]["primitives"] *= 1000
    refused = inspect("a.gltf", samples.encoded(document), CubeAsset()).refused
    assert refused == "more than 1000 vertices"
