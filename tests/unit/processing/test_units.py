"""Facts have the numbers, unit and axes of the file; the GLB is in metres with y up."""

import json
import re
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from backend.processing.files import Files
from backend.processing.glb import write_glb
from backend.processing.readers.models import read_model
from backend.processing.readers.units import unit_and_up, unit_named
from backend.processing.scene import METRE, Scene
from tests.unit.processing.samples import RELATIONS, Asset, archive, facts_without_pictures

FBX_TEXT = """; FBX 7.4.0 project file
FBXHeaderExtension:  {{
	FBXHeaderVersion: 1003
	FBXVersion: 7400
}}
GlobalSettings:  {{
	Properties70:  {{
		P: "UpAxis", "int", "Integer", "",{up}
		P: "UpAxisSign", "int", "Integer", "",1
		P: "FrontAxis", "int", "Integer", "",{front}
		P: "FrontAxisSign", "int", "Integer", "",{sign}
		P: "CoordAxis", "int", "Integer", "",{coord}
		P: "CoordAxisSign", "int", "Integer", "",1
		P: "UnitScaleFactor", "double", "Number", "",{unit}
	}}
}}
Objects:  {{
	Geometry: 1, "Geometry::", "Mesh" {{
		Vertices: *{numbers} {{ a: {vertices} }}
		PolygonVertexIndex: *{count} {{ a: {corners} }}
		GeometryVersion: 124
	}}
	Model: 2, "Model::m", "Mesh" {{
		Version: 232
	}}
}}
Connections:  {{
	C: "OO",2,0
	C: "OO",1,2
}}
"""
_AXES = {0: (2, 1, 1), 1: (2, 1, 0), 2: (1, -1, 0)}


def standing(up: int) -> list[list[float]]:
    """A rectangle, 1 wide and 10 high; y is the width if x is the height."""
    width = 1 if up == 0 else 0
    corners = [[0.0] * 3 for _ in range(4)]
    for corner in (1, 2):
        corners[corner][width] = 1
    for corner in (2, 3):
        corners[corner][up] = 10
    return corners


Rows = Sequence[Sequence[float]]
Polygons = Sequence[Sequence[int]]


def fbx(up: int, unit: float) -> bytes:
    return fbx_of(standing(up), [(0, 1, 2, 3)], up, unit)


def fbx_of(vertices: Rows, polygons: Polygons, up: int, unit: float) -> bytes:
    front, sign, coord = _AXES[up]
    numbers = [str(number) for corner in vertices for number in corner]
    # The last corner of a polygon is written as its complement.
    corners = [str(c) for polygon in polygons for c in (*polygon[:-1], -polygon[-1] - 1)]
    return FBX_TEXT.format(
        up=up,
        front=front,
        sign=sign,
        coord=coord,
        unit=unit,
        numbers=len(numbers),
        vertices=",".join(numbers),
        count=len(corners),
        corners=",".join(corners),
    ).encode()


def collada(up: int, unit: str) -> bytes:
    return collada_of(standing(up), [(0, 1, 2, 3)], up, unit)


def collada_of(vertices: Rows, polygons: Polygons, up: int, unit: str) -> bytes:
    numbers = " ".join(str(number) for corner in vertices for number in corner)
    counts = " ".join(str(len(polygon)) for polygon in polygons)
    corners = " ".join(str(corner) for polygon in polygons for corner in polygon)
    size = len(vertices)
    axis = f"<up_axis>{'XYZ'[up]}_UP</up_axis>"
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{unit}{axis}</asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="{3 * size}">{numbers}</float_array>
<technique_common><accessor source="#a" count="{size}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="{len(polygons)}"><input semantic="VERTEX" source="#v" offset="0"/>
<vcount>{counts}</vcount><p>{corners}</p>
</polylist></mesh></geometry></library_geometries>
<library_visual_scenes>
<visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


_TRIANGLES = ((0, 1, 2), (0, 2, 3))


def threemf(unit: str) -> bytes:
    return threemf_of(standing(2), _TRIANGLES, unit)


def threemf_of(vertices: Rows, triangles: Polygons, unit: str) -> bytes:
    corners = "".join(f'<vertex x="{x}" y="{y}" z="{z}"/>' for x, y, z in vertices)
    faces = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in triangles)
    mesh = f"<mesh><vertices>{corners}</vertices><triangles>{faces}</triangles></mesh>"
    space = 'xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"'
    body = f'<resources><object id="1" type="model">{mesh}</object></resources>'
    model = f'<model {unit} {space}>{body}<build><item objectid="1"/></build></model>'
    # A model that is not the one to build comes first in the archive.
    other = ("3D/a.model", b'<model unit="foot"/>')
    return archive(other, ("_rels/.rels", RELATIONS), ("3D/m.model", model.encode()))


def amf(unit: str) -> bytes:
    return amf_of(standing(2), _TRIANGLES, unit)


def amf_of(vertices: Rows, triangles: Polygons, unit: str) -> bytes:
    corners = "".join(
        f"<vertex><coordinates><x>{x}</x><y>{y}</y><z>{z}</z></coordinates></vertex>"
        for x, y, z in vertices
    )
    faces = "".join(
        f"<triangle><v1>{a}</v1><v2>{b}</v2><v3>{c}</v3></triangle>" for a, b, c in triangles
    )
    mesh = f"<mesh><vertices>{corners}</vertices><volume>{faces}</volume></mesh>"
    return f'<?xml version="1.0"?><amf {unit}><object id="0">{mesh}</object></amf>'.encode()


def glb_extents(scene: Scene) -> list[float]:
    data = write_glb(scene.parts, scene.materials, scene.up, scene.unit)
    assert data is not None
    document: dict[str, Any] = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    bounds = [accessor for accessor in document["accessors"] if "min" in accessor]
    return [max(e["max"][i] for e in bounds) - min(e["min"][i] for e in bounds) for i in range(3)]


_INCH = ("inch", 0.0254)
_NAMED_INCH, _PLAIN_INCH = '<unit name="inch" meter="0.0254"/>', '<unit meter="0.0254"/>'
CASES: dict[str, tuple[str, bytes, int, tuple[str, float]]] = {
    **{f"fbx of metres, up {up}": ("a.fbx", fbx(up, 100), up, ("metre", 1.0)) for up in (0, 1, 2)},
    "fbx of centimetres": ("a.fbx", fbx(2, 1), 2, ("centimeter", 0.01)),
    **{
        f"collada of inches, up {up}": ("a.dae", collada(up, _NAMED_INCH), up, _INCH)
        for up in (0, 1, 2)
    },
    "collada with other quotes": (
        "a.dae",
        collada(1, "<unit meter = '0.0254' name='i'/>"),
        1,
        _INCH,
    ),
    "collada without a unit": ("a.dae", collada(2, ""), 2, ("metre", 1.0)),
    "collada in an archive": ("a.zae", archive(("a.dae", collada(1, _PLAIN_INCH))), 1, _INCH),
    "collada as xml": ("a.xml", collada(1, '<unit\nmeter\n=\n"0.0254"/>'), 1, _INCH),
    "3mf of inches": ("a.3mf", threemf('unit="inch"'), 2, _INCH),
    "3mf with other quotes": ("a.3mf", threemf("unit = 'inch'"), 2, _INCH),
    "3mf without a unit": ("a.3mf", threemf(""), 2, ("millimeter", 0.001)),
    "amf with other quotes": ("a.amf", amf("unit\n=\n'inch'"), 2, _INCH),
    "amf of inches": ("a.amf", amf('unit="inch"'), 2, _INCH),
}


@pytest.mark.parametrize("case", CASES)
def test_facts_are_those_of_the_file_and_the_glb_is_in_metres(case: str) -> None:
    name, data, up, (unit, metres) = CASES[case]
    facts = facts_without_pictures(name, data)
    assert "refused" not in facts, facts
    width = 1 if up == 0 else 0
    sizes = [facts["sizeX"], facts["sizeY"], facts["sizeZ"]]
    assert sizes == pytest.approx([1 if i == width else 10 if i == up else 0 for i in range(3)])
    assert (facts["upAxis"], facts["unit"], facts["metresPerUnit"]) == ("xyz"[up], unit, metres)
    scene = read_model(data, name, name.rpartition(".")[2], Files(Asset()))
    assert glb_extents(scene) == pytest.approx([metres, 10 * metres, 0])


def test_an_archive_and_the_root_of_xml_with_a_prefix_are_read() -> None:
    plain = collada(2, '<unit name="inch" meter="0.0254"/>')
    prefixed = re.sub(rb"<(/?)([A-Za-z])", rb"<\1c:\2", plain).replace(b"xmlns=", b"xmlns:c=")
    wanted = facts_without_pictures("a.dae", plain)
    assert (wanted["unit"], wanted["upAxis"]) == ("inch", "z")
    for data in (prefixed, b"\xef\xbb\xbf" + prefixed, prefixed.replace(b"\n", b"\r\n")):
        assert facts_without_pictures("a.dae", data) == wanted


def test_a_model_without_a_unit_keeps_its_numbers_in_the_glb_and_gltf_1_is_in_metres() -> None:
    scene = read_model(b"v 0 0 0\nv 10 0 0\nv 0 20 0\nf 1 2 3\n", "a.obj", "obj", Files(Asset()))
    assert glb_extents(scene) == [10, 20, 0]
    assert unit_and_up("gltf", b"", {}) == (METRE, "y")


def test_the_unit_of_broken_documents() -> None:
    entity = '<!DOCTYPE a [<!ENTITY e "0.0254">]>'
    for data in (
        f'{entity}<amf unit="inch">',
        "<amf unit=",
        "<amf",
        "",
        "\0\0",
        '<?xml version="1.0" encoding="x"?><amf unit="inch">',
    ):
        assert unit_and_up("amf", data.encode(), {})[0] == unit_named("millimeter"), data


FBX = fbx_of(((0, 0, 0), (1, 0, 0), (1, 2.5, 0)), [(0, 1, 2)], 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1,2.5", "1,\nx", "line 20: 'x' is not a number"),
        ("1,2.5", "1,\n2_5", "line 20: '2_5' is not a number"),
        ("1,2.5", "1,\n0x10", "line 20: '0x10' is not a number"),
        ("2.5", "2,5", "line 19: the list has 10 numbers, 9 are declared"),
        ("2.5", "", "line 19: the list has 8 numbers, 9 are declared"),
        ("0,1,-3", "0,x,-3", "'x' is not a number"),
        ('"Number", "",1\n', '"Number", "",x\n', "'x' is not a number"),
    ],
)
def test_lists_and_places_of_fbx_are_numbers(old: str, new: str, reason: str) -> None:
    assert facts_without_pictures("a.fbx", FBX)["triangles"] == 1
    changed = FBX.decode().replace(old, new).encode()
    assert reason in str(facts_without_pictures("a.fbx", changed).get("refused"))
