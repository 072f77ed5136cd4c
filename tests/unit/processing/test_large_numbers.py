"""Numbers that Python and numpy read in their own ways: of many digits, and with underscores."""

import pytest

from tests.unit.processing.samples import facts_without_pictures

_VERTICES = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
_POINTS = b"0 0 0\n1 0 0\n0 1 0\n"
_COORDINATES = b"property float x\nproperty float y\nproperty float z\n"
_PLY = b"ply\nformat ascii 1.0\nelement vertex %s\n" + _COORDINATES
_FACES = b"element face 1\nproperty list uchar int vertex_indices\nend_header\n"
FILES = {
    "corner.obj": _VERTICES + b"f 1 2 %s\n",
    "mixed corners.obj": _VERTICES + b"f 1/1 2 %s/2\n",
    "corner.off": b"OFF\n3 1 0\n" + _POINTS + b"3 0 1 %s\n",
    "vertices.off": b"OFF\n%s 1 0\n" + _POINTS + b"3 0 1 2\n",
    "corner.ply": _PLY % b"3" + _FACES + _POINTS + b"3 0 1 %s\n",
    "vertices.ply": _PLY + b"end_header\n" + _POINTS,
}


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
    }.items():
        for token in (b"0_3", b"1_000"):
            assert f"{token.decode()}' is not a number" in str(
                facts_without_pictures(name, data % token).get("refused")
            ), name
        assert facts_without_pictures(name, data % b"3").get("refused") is None
