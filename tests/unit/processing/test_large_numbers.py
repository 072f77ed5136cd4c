"""Numbers that Python and numpy read in their own ways: of many digits, and with underscores."""

import json

import pytest

from backend.processing.files import Files
from backend.processing.readers import obj as obj_reader
from tests.unit.processing.cad import cube_step
from tests.unit.processing.samples import Asset, cube_gltf, facts_without_pictures
from tests.unit.processing.test_3mf import build, components, mesh, model, package
from tests.unit.processing.test_units import collada

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
    found = str(facts.get("refused") or facts.get("leftOut"))
    assert any(
        fact in found
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
        assert [one.color[0] for one in materials if one.name == "a"] == [shown], token
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
