"""Lines of numbers in texts that assimp reads: none is silently another number, or left out."""

import re
import zlib

import pytest

from tests.unit.processing.samples import facts_without_pictures
from tests.unit.processing.test_boxes import ac, amf, ase, of_corners
from tests.unit.processing.test_units import FBX_TEXT

SMD = (
    'version 1\nnodes\n  0 "root"  -1\nend\nskeleton\ntime 0\n  0 0 0 0 0 0 0\nend\n'
    "triangles\nnone.bmp\n0 0 0 0 1 1 1 0 0\n0 1 0 0 1 1 1 1 0\n0 1 2.5 0 1 1 1 1 1\nend\n"
)
MD5 = (
    'MD5Version 10\ncommandline "a"\nnumJoints 1\nnumMeshes 1\n\n'
    'joints {\n"root" -1 ( 0 0 0 ) ( 0 0 0 ) // root\n}\n\n'
    'mesh {\nshader ""\nnumverts 3\n'
    "vert 0 ( 0 0 ) 0 1\nvert 1 ( 0 0 ) 1 1\nvert 2 ( 0 0 ) 2 1\n"
    "numtris 1\ntri 0 0 1 2\nnumweights 3\n"
    "weight 0 0 1 ( 0 0 0 )\nweight 1 0 1 ( 1 0 0 )\nweight 2 0 1 ( 1 2.5 0 )\n}\n"
)
NFF = "f 1 0 0 1 0 0 0 0\np 3\n0 0 0\n1 0 0\n1 2.5 0\ns 5 5 5 2.5\nc\n0 0 0 1\n0 0 2.5 1\n"
SENSE8 = "nff\nversion 2.0\nbox\n3\n0 0 0\n1 0 0\n1 2.5 0\n1\n3 0 1 2 0xFFF\n"
COB = (
    "Caligari V00.01ALH             \nPolH V0.06 Id 1 Parent 0 Size 00001000\nName A,1\n"
    "center 0 0 0\nx axis 1 0 0\ny axis 0 1 0\nz axis 0 0 1\n"
    "Transform\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
    "World Vertices 3\n0 0 0\n1 0 0\n1 2.5 0\nTexture Vertices 1\n0 0\n"
    "Faces 1\nFace verts 3 flags 0 mat 0\n<0,0> <1,0> <2,0> \nDrawFlags 0\n"
    "END  V1.00 Id 0 Parent 0 Size        0\n"
)
XGL = (
    '<WORLD><MESH ID="0"><MAT ID="0"><AMB>0,1,0</AMB><DIFF>0,1,0</DIFF></MAT>'
    '<P ID="0">0,0,0</P><P ID="1">1,0,0</P><P ID="2">1,2.5,0</P><N ID="0">0,0,1</N>'
    "<F><MATREF>0</MATREF>"
    + "".join(f"<FV{n + 1}><PREF>{n}</PREF><NREF>0</NREF></FV{n + 1}>" for n in range(3))
    + "</F></MESH><OBJECT><MESHREF>0</MESHREF></OBJECT></WORLD>"
)
X3D = (
    '<X3D><Scene><Shape><Extrusion crossSection="1 0 0 1 -1 0 0 -1 1 0" spine="0 0 0 0 2.5 0"/>'
    "</Shape></Scene></X3D>"
)
OGEX = (
    'Metric (key = "up") {string {"y"}}\nGeometryNode $n {ObjectRef {ref {$g}}}\n'
    'GeometryObject $g {Mesh (primitive = "triangles") {\n'
    'VertexArray (attrib = "position") {float[3] // 3\n{{0, 0, 0}, {1, 0, 0}, // two\n'
    "{1, 2.5, 0}}}\nIndexArray {unsigned_int32[3] {{0, 1, 2}}}}}\n"
)
FBX = FBX_TEXT.format(
    up=1,
    front=2,
    sign=1,
    coord=0,
    unit=1,
    numbers=9,
    vertices="0,0,0,1,0,0,\n1,2.5,0",
    count=3,
    corners="0,1,-3",
)
INSTANCE = (
    '<constellation id="9"><instance objectid="0"><deltax>1</deltax><deltay>0</deltay>'
    "<deltaz>0</deltaz><rx>0</rx><ry>0</ry><rz>0</rz></instance></constellation></amf>"
)
TEXTS = {
    "a.ogex": OGEX,
    "a.fbx": FBX,
    "a.smd": SMD,
    "a.md5mesh": MD5,
    "a.nff": NFF,
    "sense8.nff": SENSE8,
    "a.cob": COB,
    "a.xgl": XGL,
    "xgl.xml": XGL,
    "a.x3d": X3D,
    "a.raw": of_corners("{} {} {} " * 3).replace("0 2 3", "0 2.5 3", 1),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_samples_are_read(name: str) -> None:
    facts = facts_without_pictures(name, TEXTS[name].encode())
    assert facts.get("triangles"), facts
    assert "leftOut" not in facts


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("wrong", ["x", "2_5", "0x10", "2.5.1", ""])
def test_what_is_no_number_is_refused(name: str, wrong: str) -> None:
    text = TEXTS[name]
    assert "2.5" in text
    if name == "a.ogex" and wrong in {"2_5", "0x10"}:
        return  # numbers of that format
    reason = str(facts_without_pictures(name, text.replace("2.5", wrong).encode())["refused"])
    assert (f"'{wrong}' is not a number" in reason) if wrong else re.search("number|float", reason)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_texts_in_other_encodings_are_checked(encoding: str) -> None:
    for name, text in (("a.ac", ac()), ("a.ase", ase()), ("a.nff", NFF)):
        assert "refused" not in facts_without_pictures(name, text.encode(encoding))
        wrong = text.replace("2", "2_0").encode(encoding)
        assert "is not a number" in str(facts_without_pictures(name, wrong).get("refused")), name


@pytest.mark.parametrize("name", ["a.xgl", "a.xml"])
def test_commas_of_xgl_are_no_decimal_commas(name: str) -> None:
    assert facts_without_pictures(name, XGL.encode())["boundsMax"] == "[1.0, 2.5, 0.0]"


def test_compressed_xgl_is_checked_too() -> None:
    packed = facts_without_pictures("a.zgl", zlib.compress(XGL.encode()))
    assert packed["boundsMax"] == "[1.0, 2.5, 0.0]"
    wrong = zlib.compress(XGL.replace("2.5", "2_5").encode())
    assert "'2_5' is not a number" in str(facts_without_pictures("a.zgl", wrong).get("refused"))
    assert facts_without_pictures("a.zgl", b"x" * 100) == {
        "refused": "not a ZGL file that can be decompressed"
    }


def test_scales_of_unreal_are_numbers() -> None:
    script = b"#exec MESHMAP SCALE MESHMAP=box X=0.1 Y=0_1 Z=0.2\n"
    assert facts_without_pictures("box.uc", script)["refused"] == ("line 1: '0_1' is not a number")


@pytest.mark.parametrize(
    ("name", "text", "old", "new"),
    [
        ("a.ac", ac(), "refs 3", "refs x"),
        ("a.ac", ac(), "numsurf ", "numsurf x"),
        ("a.ac", ac(), "numvert 8", "loc 0 x 0\nnumvert 8"),
        ("a.fbx", FBX, "0,1,-3", "0,x,-3"),
        ("a.fbx", FBX, '"Number", "",1\n', '"Number", "",x\n'),
        ("a.ogex", OGEX, "{0, 1, 2}", "{0, x, 2}"),
        (
            "a.amf",
            amf().replace("</amf>", INSTANCE),
            "<deltax>1",
            "<deltax>x",
        ),
        ("a.amf", amf().replace("</amf>", INSTANCE), "<rx>0", "<rx>x"),
    ],
)
def test_counts_and_places_are_numbers(name: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert "refused" not in facts_without_pictures(name, text.encode())
    reason = str(facts_without_pictures(name, text.replace(old, new).encode())["refused"])
    assert re.search("'x\\d*' is not a number", reason), reason


@pytest.mark.parametrize("number", ["+2.5", "2_.5", "0x40200000", "2.5 /* { */"])
def test_literals_of_ogex_are_their_numbers(number: str) -> None:
    facts = facts_without_pictures("a.ogex", OGEX.replace("2.5", number).encode())
    assert facts["boundsMax"] == "[1.0, 2.5, 0.0]"


@pytest.mark.parametrize("number", ["0x2", "0b10", "0o2", "+2", "0_0_2"])
def test_indices_of_ogex_in_other_bases_are_the_same(number: str) -> None:
    facts = facts_without_pictures("a.ogex", OGEX.replace("1, 2}", f"1, {number}}}").encode())
    assert facts["area"] == 1.25


def test_a_decimal_comma_in_a_list_of_fbx_is_one_number_more() -> None:
    wrong = FBX.replace("2.5", "2,5").encode()
    assert facts_without_pictures("a.fbx", wrong)["refused"] == (
        "line 19: the list has 10 numbers, 9 are declared"
    )
