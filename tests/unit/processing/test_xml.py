"""Shapes of X3D, primitives of Collada and instances of AMF, each by its counts and its size."""

import zlib
from typing import Any

import pytest

from tests.unit.processing.samples import facts_without_pictures

_SQUARE = '<Coordinate point="0 0 0 1 0 0 1 1 0 0 1 0"/>'
_BOX = '<Shape><Box size="1 2 3"/></Shape>'
X3D = {
    f'<IndexedFaceSet coordIndex="0 1 2 3 -1">{_SQUARE}</IndexedFaceSet>': (2, 0, [1, 1, 0]),
    f'<IndexedFaceSet coordIndex="0 1 2 3 -1" texCoordIndex="0 1 2 3 -1">{_SQUARE}'
    '<TextureCoordinate point="0 0 1 0 1 1 0 1"/></IndexedFaceSet>': (2, 0, [1, 1, 0]),
    f'<IndexedTriangleSet index="0 1 2 0 2 3">{_SQUARE}</IndexedTriangleSet>': (2, 0, [1, 1, 0]),
    f'<IndexedTriangleFanSet index="0 1 2 3 -1">{_SQUARE}</IndexedTriangleFanSet>': (
        *(2, 0),
        [1, 1, 0],
    ),
    f'<IndexedLineSet coordIndex="0 1 2 -1 2 3 -1">{_SQUARE}</IndexedLineSet>': (0, 3, [1, 1, 0]),
    f'<LineSet vertexCount="4">{_SQUARE}</LineSet>': (0, 3, [1, 1, 0]),
    f"<LineSet vertexCount='3, 1'>{_SQUARE}</LineSet>": (0, 2, [1, 1, 0]),
    f'<LineSet vertexCount="2 2">{_SQUARE}</LineSet>': (0, 2, [1, 1, 0]),
    '<Polypoint2D point="0 0 2 0"/>': (0, 0, [2, 0, 0]),
    '<Polyline2D lineSegments="0 0 1 0 1 1"/>': (0, 2, [1, 1, 0]),
    f'<IndexedLineSet coordIndex="0 1 2 -1 3 -1">{_SQUARE}</IndexedLineSet>': (0, 2, [1, 1, 0]),
    f'<IndexedFaceSet coordIndex="0 1 2 -1 -1 0 2 3">{_SQUARE}</IndexedFaceSet>': (2, 0, [1, 1, 0]),
    '<ElevationGrid xDimension="3" zDimension="2" height="0 1 2 0 1 2"/>': (4, 0, [2, 2, 1]),
}
SCENES = {
    f'<Transform translation="5 0 0" rotation="0 0 1 1.5707963">{_BOX}</Transform>': [2, 1, 3],
    f'<Transform center="1 0 0" rotation="0 0 1 3.14159265">{_BOX}</Transform>{_BOX}': [3, 2, 3],
    f'<Transform scale="2 1 1" scaleOrientation="0 0 1 1.5707963">{_BOX}</Transform>': [1, 4, 3],
    f'<Transform translation="5 0 0"><Group DEF="a">{_BOX}</Group></Transform><Group USE="a"/>': (
        [6, 2, 3]
    ),
    f'<Switch whichChoice="0">{_BOX}<Shape><Box size="9 9 9"/></Shape></Switch>': [1, 2, 3],
}


def facts(name: str, text: str) -> dict[str, Any]:
    return dict(facts_without_pictures(name, text.encode()))


def x3d(scene: str) -> dict[str, Any]:
    return facts("a.x3d", f'<?xml version="1.0"?><X3D version="3.3"><Scene>{scene}</Scene></X3D>')


def size(found: dict[str, Any]) -> list[float]:
    return [round(found[name], 4) for name in ("sizeX", "sizeY", "sizeZ")]


@pytest.mark.parametrize("shape", X3D)
def test_a_shape_of_x3d_is_read(shape: str) -> None:
    result = x3d(f"<Shape>{shape}</Shape>")
    assert "refused" not in result, result
    assert (result["triangles"], result["lines"], size(result)) == X3D[shape]


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_of_x3d_is_placed(scene: str) -> None:
    assert size(x3d(scene)) == SCENES[scene]


def test_lines_of_x3d_with_more_vertices_than_the_file_are_refused() -> None:
    result = x3d(f'\n<Shape><LineSet vertexCount="9999999999">{_SQUARE}</LineSet></Shape>')
    assert result["refused"] == "line 2: the lines have too many vertices"


_INPUT = '<input semantic="VERTEX" source="#v" offset="0"/>'
COLLADA = {
    f'<polylist count="1">{_INPUT}<vcount>4</vcount><p>0 1 2 3</p></polylist>': (2, 0),
    f'<polygons count="2">{_INPUT}<p>0 1 2</p><p>0 2 3</p></polygons>': (2, 0),
    f'<trifans count="2">{_INPUT}<p>0 1 2 3</p><p>1 2 3</p></trifans>': (3, 0),
    f'<tristrips count="2">{_INPUT}<p>0 1 3 2</p><p>0 1 2</p></tristrips>': (3, 0),
    f'<lines count="2">{_INPUT}<p>0 1 2 3</p></lines>': (0, 2),
    f'<linestrips count="2">{_INPUT}<p>0 1 2</p><p>2 3</p></linestrips>': (0, 3),
}


@pytest.mark.parametrize("primitive", COLLADA)
def test_a_primitive_of_collada_is_read(primitive: str) -> None:
    result = facts(
        "a.dae",
        f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="f" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
<technique_common><accessor source="#f" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
</source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{primitive}</mesh>
</geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node>
<scale>2 3 1</scale><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""",
    )
    assert (result["triangles"], result["lines"]) == COLLADA[primitive]
    assert size(result) == [2, 3, 0]


_AMF = (
    '<?xml version="1.0"?><amf unit="millimeter"><object id="1"><mesh><vertices>'
    + "".join(
        f"<vertex><coordinates><x>{x}</x><y>{y}</y><z>0</z></coordinates></vertex>"
        for x, y in ((0, 0), (1, 0), (0, 1))
    )
    + "</vertices><volume><triangle><v1>0</v1><v2>1</v2><v3>2</v3></triangle></volume></mesh>"
    '</object><constellation id="2">{}</constellation></amf>'
)


def _instance(x: float, turn: float) -> str:
    places = f"<deltax>{x}</deltax><deltay>0</deltay><deltaz>0</deltaz>"
    return f'<instance objectid="1">{places}<rx>0</rx><ry> 0.0 </ry><rz>{turn}</rz></instance>'


def test_instances_and_constellations_of_amf_are_placed() -> None:
    result = facts("a.amf", _AMF.format(_instance(0, 0) + _instance(5, 0)))
    assert (result["triangles"], size(result)) == (2, [6, 1, 0])
    result = facts("a.amf", _AMF.format(_instance(0, 0) + _instance(5, 90)))
    assert (result["triangles"], size(result), result["unit"]) == (2, [5, 1, 0], "millimeter")
    # About x, then y, then z: (1, 0, 0) is moved to (0, 0, -1), (0, 1, 0) stays.
    turned = _instance(0, 90).replace("<rx>0", "<rx>90").replace(" 0.0 ", "90")
    bounds = facts("a.amf", _AMF.format(turned))
    low, high = (
        [round(float(n), 6) for n in bounds[key][1:-1].split(",")]
        for key in ("boundsMin", "boundsMax")
    )
    assert (low, high) == ([0, 0, -1], [0, 1, 0])
    for name in ("1", "d", "o", "object", "x1 y"):
        text = _AMF.format(_instance(0, 0) + _instance(5, 90))
        text = text.replace('object id="1"', f'object id="{name}"')
        text = text.replace('objectid="1"', f'objectid="{name}"')
        result = facts("a.amf", text)
        assert (result.get("triangles"), result.get("refused")) == (2, None)
    outer = f'<constellation id="3">{_instance(0, 90)}</constellation>'
    outer = outer.replace('objectid="1"', 'objectid="2"')
    result = facts("a.amf", _AMF.format(_instance(5, 0)).replace("</amf>", f"{outer}</amf>"))
    assert (result["triangles"], size(result)) == (1, [1, 1, 0])
    assert result["boundsMax"].split(", ")[1] == "6.0"


@pytest.mark.parametrize(("target", "shown"), [("7", "7"), ("2", "2")])
def test_an_instance_of_amf_that_names_nothing_or_itself_is_refused(
    target: str, shown: str
) -> None:
    wrong = _instance(0, 90).replace('objectid="1"', f'objectid="{target}"')
    outer = '<constellation id="4"><instance objectid="2"></instance></constellation>'
    result = facts("a.amf", _AMF.format(wrong).replace("</amf>", f"{outer}</amf>"))
    assert result["refused"] == f"an instance is of '{shown}', which is no object or too deep"


XGL = (
    '<WORLD><MESH ID="0"><MAT ID="0"><AMB>0,1,0</AMB><DIFF>0,1,0</DIFF></MAT>'
    '<P ID="0">0,0,0</P><P ID="1">1,0,0</P><P ID="2">1,2.5,0</P><N ID="0">0,0,1</N>'
    "<F><MATREF>0</MATREF>"
    + "".join(f"<FV{n + 1}><PREF>{n}</PREF><NREF>0</NREF></FV{n + 1}>" for n in range(3))
    + "</F></MESH><OBJECT><MESHREF>0</MESHREF></OBJECT></WORLD>"
)


def test_xgl_has_no_decimal_commas_and_zgl_has_to_be_decompressed() -> None:
    for name in ("a.xgl", "a.xml", "a.zgl"):
        data = zlib.compress(XGL.encode()) if name == "a.zgl" else XGL.encode()
        assert facts_without_pictures(name, data)["boundsMax"] == "[1.0, 2.5, 0.0]"
    assert facts_without_pictures("a.zgl", b"x" * 100) == {
        "refused": "not a ZGL file that can be decompressed"
    }
