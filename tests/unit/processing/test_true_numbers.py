"""Numbers that readers once reported wrongly, or that Python reads in its own way."""

import io
import json
import math
import struct
from typing import Any

import laspy
import numpy as np
import pytest

from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers import obj as obj_reader
from backend.processing.readers.models import read_model
from tests.unit.processing import samples
from tests.unit.processing.cad import cube_step, sphere_step
from tests.unit.processing.samples import Asset, cube_gltf, facts_without_pictures
from tests.unit.processing.test_3mf import CORE, build, components, mesh, model, package
from tests.unit.processing.test_boxes import las, ply
from tests.unit.processing.test_documents import cloud, pdf
from tests.unit.processing.test_units import collada

Facts = dict[str, Any]


def boxes(*places: tuple[float, float, bool]) -> bytes:
    """Return cubes as OBJ: where each is on x, its size, and whether it is inside out."""
    lines = list[str]()
    for nth, (x, size, is_turned) in enumerate(places):
        lines += ["v {} {} {}".format(*(corner * size + (x, 0, 0))) for corner in samples.CORNERS]
        for side in samples.SIDES:
            corners = [8 * nth + corner + 1 for corner in (side[::-1] if is_turned else side)]
            lines.append("f " + " ".join(map(str, corners)))
    return "\n".join([*lines, ""]).encode()


def turned(faces: int) -> bytes:
    """Return a cube of which some faces are not turned as the others."""
    lines = boxes((0, 1, False)).decode().splitlines()
    for nth in range(8, 8 + faces):
        lines[nth] = "f " + " ".join(reversed(lines[nth].split()[1:]))
    return "\n".join([*lines, ""]).encode()


def test_the_volume_is_that_of_faces_that_are_turned_alike() -> None:
    for data, volume in (
        (boxes((0, 1, False)), 1),
        (boxes((0, 1, True)), 1),  # all faces are turned alike
        (boxes((0, 1, False), (5, 2, False)), 9),
        (boxes((0, 1, True), (5, 2, True)), 9),
        (boxes((0, 1, False), (5, 1, True)), None),
        (boxes((5, 2, True), (0, 1, False), (9, 1, False)), None),
        (boxes((0, 4, False), (0.5, 1, True)), None),  # touches the outer one
        (turned(1), None),
        (turned(3), None),
        (turned(6), 1),
    ):
        facts = facts_without_pictures("a.obj", data)
        assert facts["watertight"] is True
        assert facts.get("volume") == (None if volume is None else pytest.approx(volume))
    hollow = boxes((0, 4, False), (0, 1, True)).decode().splitlines()
    moved = [
        f"v {line.split()[1]} {float(line.split()[2]) + 1} {float(line.split()[3]) + 1}"
        for line in hollow[14:22]
    ]
    moved = [f"v {float(line.split()[1]) + 1} {' '.join(line.split()[2:])}" for line in moved]
    data = "\n".join([*hollow[:14], *moved, *hollow[22:], ""]).encode()
    assert facts_without_pictures("a.obj", data)["volume"] == pytest.approx(63)


def _las_of(version: str) -> bytes:
    library: Any = laspy
    points = library.create(point_format=3, file_version=version)
    points.x, points.y, points.z = np.arange(20), np.arange(20), np.arange(20)
    out = io.BytesIO()
    points.write(out)
    return out.getvalue()


def _las_14(legacy: int, count: int) -> bytes:
    data = bytearray(_las_of("1.4"))
    struct.pack_into("<I", data, 107, legacy)
    struct.pack_into("<Q", data, 247, count)
    return bytes(data)


def _las_12(count: int) -> bytes:
    data = bytearray(cloud(compressed=False))
    struct.pack_into("<I", data, 107, count)
    return bytes(data)


def test_what_a_header_does_not_count_is_read_or_left_out() -> None:
    for name, data, points, left_out in (
        ("a.las", las(), 8, ""),
        ("a.las", _las_12(0), 1000, ""),
        ("a.las", _las_12(990), 990, "declares 990 points, the file has 1000"),
        ("a.las", _las_14(20, 0), 20, ""),
        ("a.las", _las_14(0, 0), 20, ""),
        ("a.las", _las_14(0, 20), 20, ""),
        ("a.las", _las_14(5, 5), 5, "declares 5 points, the file has 20"),
        ("a.ply", ply().encode() + b"3 0 1 2\n", 0, "4 numbers after the last element"),
        ("a.ply", samples.cube_ply(binary=True) + b"\1" * 40, 0, "40 bytes after the last element"),
        ("a.ply", ply().encode() + b"\n \n", 0, ""),
    ):
        facts = facts_without_pictures(name, data)
        assert facts.get("points") == points, facts
        assert left_out in str(facts.get("leftOut", ""))
        assert bool(left_out) == ("leftOut" in facts)
    data = bytearray(cloud(compressed=True))
    struct.pack_into("<I", data, 107, 0)
    facts = facts_without_pictures("a.laz", bytes(data))
    assert "declares 0 points" in str(facts.get("leftOut"))


_BUILD = build('objectid="1"')
_BEAMS = "http://schemas.microsoft.com/3dmanufacturing/beamlattice/2017/02"
_SLICES = "http://schemas.microsoft.com/3dmanufacturing/slice/2015/07"
_STACK = (
    '<s:slicestack id="7" zbottom="0"><s:slice ztop="1"><s:vertices><s:vertex x="0" y="0"/>'
    '</s:vertices><s:polygon startv="0"/></s:slice></s:slicestack>'
)


def _three_mf(extension: str, required: bool, resources: str = "", attribute: str = "") -> bytes:
    required_extensions = f'requiredextensions="{"s" if required else ""}"'
    root = (
        f'<model unit="millimeter" xmlns="{CORE}" xmlns:s="{extension}" {required_extensions}>'
        f"<resources>{resources}{mesh(1, attribute)}</resources>{_BUILD}</model>"
    )
    return package(root.encode())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_three_mf("http://example.org/x", True), "requires the extension http://example.org/x"),
        (_three_mf(_SLICES, True, _STACK), "requires the extension " + _SLICES),
        (_three_mf(_SLICES, False, _STACK, ' s:slicestackid="7"'), None),
        (_three_mf(_BEAMS, True), "requires the extension " + _BEAMS),
        (
            package(
                (
                    f'<model xmlns="{CORE}" xmlns:b="{_BEAMS}"><resources>'
                    + mesh(1).replace("</mesh>", "<b:beamlattice><b:beams/></b:beamlattice></mesh>")
                    + f"</resources>{_BUILD}</model>"
                ).encode()
            ),
            "has beam lattices",
        ),
        (_three_mf("http://schemas.microsoft.com/3dmanufacturing/material/2015/02", True), None),
    ],
)
def test_extensions_of_3mf_that_no_reader_supports_are_named(data: bytes, reason: Any) -> None:
    facts = facts_without_pictures("a.3mf", data)
    assert (reason or "None") in str(facts.get("refused"))


@pytest.mark.parametrize("unit", [b"2", b"2.0", b"0.5"])
def test_a_page_has_the_size_of_its_unit(unit: bytes) -> None:
    data = pdf().replace(b"[0 0 200 100]>>", b"[0 0 200 100]/UserUnit " + unit + b">>")
    facts = inspect("a.pdf", data, Asset()).facts
    assert [facts["width"], facts["height"]] == [200 * float(unit), 100 * float(unit)]


def _dxf(
    *groups: object, tables: tuple[object, ...] = (), blocks: tuple[object, ...] = ()
) -> bytes:
    sections = [(b"TABLES", tables), (b"BLOCKS", blocks), (b"ENTITIES", groups)]
    lines = list[object]()
    for name, content in sections:
        lines += [0, "SECTION", 2, name.decode(), *content, 0, "ENDSEC"]
    return "\n".join(map(str, [*lines, 0, "EOF", ""])).encode()


def _line(layer: str, x: float, *groups: object) -> tuple[object, ...]:
    return (0, "LINE", 8, layer, *groups, 10, 0, 20, 0, 30, 0, 11, x, 21, 1, 31, 0)


def _layer(name: str, flags: int, color: int = 7) -> tuple[object, ...]:
    return (0, "TABLE", 2, "LAYER", 0, "LAYER", 2, name, 70, flags, 62, color, 0, "ENDTAB")


_BLOCK = (0, "BLOCK", 2, "B", 10, 0, 20, 0, 30, 0, *_line("0", 5), 0, "ENDBLK")


@pytest.mark.parametrize(
    ("data", "lines", "left_out"),
    [
        (_dxf(*_line("0", 3), *_line("0", 9, 60, 1)), 1, "1 invisible"),
        (
            _dxf(*_line("0", 3), *_line("F", 9), tables=_layer("F", 1)),
            1,
            "1 on layers that are frozen or off",
        ),
        (
            _dxf(*_line("0", 3), *_line("f", 9), tables=_layer("F", 1)),
            1,
            "1 on layers that are frozen or off",
        ),
        (
            _dxf(*_line("0", 3), *_line("F", 9), tables=_layer("F", 0, -7)),
            1,
            "1 on layers that are frozen or off",
        ),
        (_dxf(*_line("0", 3), *_line("F", 9), tables=_layer("F", 4)), 2, ""),  # locked
        (
            _dxf(*_line("0", 3), 0, "INSERT", 8, "F", 2, "B", tables=_layer("F", 1), blocks=_BLOCK),
            1,
            "1 on layers that are frozen or off",
        ),
        (
            _dxf(*_line("0", 3), 0, "INSERT", 8, "0", 2, "B", 41, 0, 42, 0, 43, 0, blocks=_BLOCK),
            1,
            "1 INSERT of a scale of 0",
        ),
        (_dxf(*_line("0", 3), 0, "INSERT", 8, "0", 2, "B", 43, 0, blocks=_BLOCK), 2, ""),  # flat
    ],
)
def test_what_a_drawing_hides_is_neither_drawn_nor_counted(
    data: bytes, lines: int, left_out: str
) -> None:
    facts = facts_without_pictures("a.dxf", data)
    assert facts.get("lines") == lines, facts
    assert left_out in str(facts.get("leftOut", ""))
    assert bool(left_out) == ("leftOut" in facts)


def _gltf(**changes: Any) -> Facts:
    data = samples.encoded(samples.cube_gltf(**changes))
    return dict(facts_without_pictures("a.gltf", data, cube__bin=samples.cube_binary()))


def test_hidden_nodes_of_gltf_are_not_drawn_and_a_centre_moves_all() -> None:
    hidden = {"KHR_node_visibility": {"visible": False}}
    nodes: list[Any] = [
        {"mesh": 0},
        {"mesh": 0, "extensions": hidden},
        {"children": [3], "extensions": hidden},
        {"mesh": 0, "translation": [9, 0, 0]},
    ]
    facts = _gltf(
        nodes=nodes, scenes=[{"nodes": [0, 1, 2]}], extensionsRequired=["KHR_node_visibility"]
    )
    assert (facts.get("triangles"), facts.get("sizeX")) == (12, 1.0), facts
    assert facts["leftOut"] == "2 hidden nodes"
    facts = _gltf(
        extensions={"CESIUM_RTC": {"center": [1e6, 2, 3]}}, extensionsRequired=["CESIUM_RTC"]
    )
    assert facts.get("boundsMin") == "[1000000.0, 2.0, 3.0]", facts


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "cp1251", "cp932", "gbk", "cp437"])
def test_names_in_the_code_page_of_the_writer_are_found(encoding: str) -> None:
    name = {"cp1251": "мебель", "cp932": "家具", "gbk": "家具"}.get(encoding, "möbel")
    files = {f"{name}__mtl": b"newmtl m\nmap_Kd %b.png\n" % name.encode(encoding)}
    files |= {f"{name}__png": samples.png()}
    written = name.encode(encoding)
    models = {
        "a.obj": b"mtllib %b.mtl\nusemtl m\n" % written + samples.cube_obj(),
        "a.ply": ply()
        .encode()
        .replace(b"element vertex", b"comment TextureFile %b.png\nelement vertex" % written, 1),
    }
    for file, data in models.items():
        opened = Files(Asset(**files))
        read_model(data, file, file[2:], opened)
        assert [
            (reference.path, reference.state)
            for reference in opened.references
            if reference.kind == "texture"
        ] == [(f"{name}.png", "found")], file


_SKIN = """<library_controllers><controller id="c"><skin source="#g">
<bind_shape_matrix>1 0 0 10 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>
<source id="j"><Name_array id="ja" count="1">J</Name_array><technique_common>
<accessor source="#ja" count="1"><param name="JOINT" type="name"/></accessor></technique_common>
</source>
<source id="b"><float_array id="ba" count="16">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</float_array>
<technique_common><accessor source="#ba" count="1" stride="16"><param type="float4x4"/></accessor>
</technique_common></source>
<source id="w"><float_array id="wa" count="1">1</float_array><technique_common>
<accessor source="#wa" count="1"><param name="WEIGHT" type="float"/></accessor></technique_common>
</source>
<joints><input semantic="JOINT" source="#j"/><input semantic="INV_BIND_MATRIX" source="#b"/>
</joints>
<vertex_weights count="4"><input semantic="JOINT" source="#j" offset="0"/>
<input semantic="WEIGHT" source="#w" offset="1"/><vcount>1 1 1 1</vcount><v>0 0 0 0 0 0 0 0</v>
</vertex_weights></skin></controller></library_controllers>"""


def test_a_skin_of_collada_is_where_its_joints_are() -> None:
    text = collada(1, "").decode()
    whole = facts_without_pictures("a.dae", text.encode())
    joint = (
        '<node id="J" sid="J" name="J" type="JOINT"><translate>0 5 0</translate></node><node>'
        '<instance_controller url="#c"><skeleton>#J</skeleton></instance_controller>'
    )
    skinned = text.replace("<library_visual_scenes>", _SKIN + "<library_visual_scenes>")
    skinned = skinned.replace('<node><instance_geometry url="#g"/>', joint)
    facts = facts_without_pictures("a.dae", skinned.encode())
    low = [json.loads(str(item["boundsMin"])) for item in (whole, facts)]
    assert [b - a for a, b in zip(*low, strict=True)] == [10, 5, 0], facts


def test_a_collada_scene_of_lights_has_no_triangles() -> None:
    lights = collada(1, "").replace(b'<instance_geometry url="#g"/>', b"<node/><node/>")
    facts = facts_without_pictures("a.dae", lights)
    assert (facts["triangles"], "boundsMin" in facts) == (0, False)


@pytest.mark.parametrize("radius", [10, 100, 2000, 1e6])
def test_triangles_of_a_solid_are_as_far_from_it_as_its_size_allows(radius: float) -> None:
    facts = facts_without_pictures("a.step", sphere_step(radius))
    assert 100 < int(str(facts["triangles"])) < 20_000, facts
    volume = 4 / 3 * math.pi * (radius / 1000) ** 3
    assert facts["volume"] == pytest.approx(volume, rel=0.03)


_VERTICES = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
_POINTS = b"0 0 0\n1 0 0\n0 1 0\n"
_COORDINATES = b"property float x\nproperty float y\nproperty float z\n"
_PLY = b"ply\nformat ascii 1.0\nelement vertex %s\n" + _COORDINATES
_FACES = b"element face 1\nproperty list uchar int vertex_indices\nend_header\n"
FILES = {
    "corner.obj": _VERTICES + b"f 1 2 %s\n",
    "mixed corners.obj": _VERTICES + b"f 1/1 2 %s/2\n",
    "corner.ply": _PLY % b"3" + _FACES + _POINTS + b"3 0 1 %s\n",
    "vertices.ply": _PLY + b"end_header\n" + _POINTS,
}


_DXF = (
    b"0\nSECTION\n2\nENTITIES\n0\nLINE\n8\n0\n10\n0.0\n20\n0.0\n30\n0.0\n"
    b"11\n%s\n21\n1.0\n31\n0.0\n0\nENDSEC\n0\nEOF\n"
)


def placed(component: str) -> bytes:
    """A 3MF whose object is placed as one component."""
    return package(model(components(1, component) + mesh(2), build('objectid="1"')))


@pytest.mark.parametrize("digits", [19, 30, 5000])
@pytest.mark.parametrize("name", FILES)
def test_an_index_or_a_count_of_many_digits_is_beyond_what_there_is(name: str, digits: int) -> None:
    facts = facts_without_pictures(name, FILES[name] % (b"9" * digits))
    result = str(facts.get("refused") or facts.get("leftOut"))
    assert any(
        fact in result
        for fact in ("does not exist", "declares", "not valid", "do not exist", "beyond")
    ), facts


def test_a_number_with_an_underscore_is_not_one() -> None:
    for name, data in {
        "point.obj": b"v 0 0 0\nv 1 0 0\nv 0 %s 0\nf 1 2 3\n",
        "corner.obj": _VERTICES + b"f 1 2 %s\n",
        "point.ply": _PLY % b"3" + b"end_header\n0 0 0\n1 0 0\n0 %s 0\n",
        "point.stl": (
            b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
            b"vertex 0 %s 0\nendloop\nendfacet\nendsolid\n"
        ),
        "line.dxf": _DXF,
        "floats.dae": collada(2, "").replace(b'count="12">0.0 ', b'count="12">%s '),
        "point.step": cube_step().replace(b"(1000.0,1000.0,1000.0)", b"(1000.0,%s,1000.0)"),
    }.items():
        assert b"%s" in data, name
        for token in (b"0_3", b"1_000"):
            assert f"{token.decode()}' is not a number" in str(
                facts_without_pictures(name, data % token).get("refused")
            ), name
        assert facts_without_pictures(name, data % b"3").get("refused") is None


def test_what_is_read_beside_coordinates_are_numbers_without_underscores_too() -> None:
    """Python's float() reads 1_0 as 10."""
    obj = b"mtllib a.mtl\nusemtl a\n" + _VERTICES + b"f 1 2 3\n"
    for token, shown in ((b"0_1", 0.8), (b"0.1", 0.1)):
        files = Files(Asset(a__mtl=b"newmtl a\nKd %s 0 0\n" % token))
        materials = obj_reader.read(obj, files).materials
        assert [material.color[0] for material in materials if material.name == "a"] == [shown], (
            token
        )
    for token, unit in (("1_0", None), ("0.01", "centimeter")):
        facts = facts_without_pictures("a.dae", collada(2, f'<unit meter="{token}"/>'))
        assert facts.get("unit") == unit, token
    for token in ("1_0", "0x10", "1,5"):
        matrix = f'objectid="2" transform="{token} 0 0 0 1 0 0 0 1 0 0 0"'
        facts = facts_without_pictures("a.3mf", placed(matrix))
        assert "is not twelve numbers" in str(facts.get("refused")), facts


def test_a_number_of_gltf_beyond_doubles_is_named() -> None:
    for number in ("1e999", "-1e999", "9" * 400):
        moved = json.dumps(cube_gltf()).replace('{"mesh": 0}', '{"mesh": 0, "scale": [%s, 1, 1]}')
        counted = json.dumps(cube_gltf()).replace('"count": 8', '"count": %s')
        for document in (moved, counted):
            data = (document % number).encode()
            reason = str(facts_without_pictures("a.gltf", data).get("refused"))
            assert reason.endswith("of the glTF document is larger than a double"), reason


def test_numbers_that_importers_read_up_to_their_first_odd_sign_are_refused() -> None:
    collada_floats = collada(2, "").replace(b'count="12">0.0 ', b'count="12">%s ')
    step = cube_step().replace(b"(1000.0,1000.0,1000.0)", b"(1000.0,%s,1000.0)")
    for name, data in (("a.dxf", _DXF), ("a.dae", collada_floats), ("a.step", step)):
        for token in ("0x10", "1.2.3", "abc", "1e", "\u0661"):
            reason = str(facts_without_pictures(name, data % token.encode()).get("refused"))
            assert f"'{token}' is not a number" in reason, (name, reason)
    indices = collada(2, "").replace(b"<p>0 ", b"<p>%s ")
    for token in ("1_0", "0x1", "1e", "abc"):
        reason = str(facts_without_pictures("a.dae", indices % token.encode()).get("refused"))
        assert f"'{token}' is not a number" in reason
    # OpenCASCADE crashes.
    assert "'nan' is not a number" in str(facts_without_pictures("a.step", step % b"nan"))
