"""Coordinates that are no numbers, and indices of no vertex: refused with the place, or a fact.

Never a model that is silently another one.
"""

import io
import re
import time
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from backend.processing.measurements import Facts
from backend.processing.readers.assimp_texts import with_plain_lists, without_prefix
from backend.processing.readers.checks import CHECKS
from backend.processing.scene import RefusedError
from tests.unit.processing import samples
from tests.unit.processing.cad import cube_step, sheet_iges
from tests.unit.processing.samples import archive, facts_without_pictures
from tests.unit.processing.test_boxes import (
    binary_stl,
    obj,
    ply,
    stl,
    threemf,
    x3d,
)
from tests.unit.processing.test_headers import DXF

_OFF = "OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2\n3 1 2 3\n"


def _package(old: str, new: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(threemf())) as package:
        parts = [(name, package.read(name)) for name in package.namelist()]
    assert any(old.encode() in content for _, content in parts)
    return archive(
        *((name, content.replace(old.encode(), new.encode(), 1)) for name, content in parts)
    )


def _glb(index: int | None = None, coordinate: float = 0.0) -> bytes:
    binary = bytearray(samples.cube_binary())
    binary[0:4] = np.float32(coordinate).tobytes()
    if index is not None:
        binary[96:100] = index.to_bytes(4, "little")
    return samples.glb(samples.cube_gltf(), bytes(binary))


def _changed(text: str, old: str, new: str) -> bytes:
    assert old in text
    return text.replace(old, new, 1).encode()


def _obj(vertex: str = "v 1 2 0", more: bytes = b"") -> bytes:
    return _changed(obj(), "v 1 2 0", vertex) + more


def _stl(vertex: str) -> bytes:
    return _changed(stl(), "vertex 0 2 3", vertex)


def _ply(vertex: str = "1 2 0", face: str = "3 0 1 3") -> bytes:
    text = _changed(ply(), "\n1 2 0\n", f"\n{vertex}\n").decode()
    return _changed(text, "\n3 0 1 3", f"\n{face}")


def _iges(old: str, new: str) -> bytes:
    return _changed(_IGES, old, new)


def _binary_ply(index: int) -> bytes:
    data = bytearray(samples.cube_ply(binary=True))
    data[-4:] = index.to_bytes(4, "big", signed=True)
    return bytes(data)


def _binary_stl(coordinate: float) -> bytes:
    data = bytearray(binary_stl())
    data[96:100] = np.float32(coordinate).tobytes()
    return bytes(data)


_STEP_START, _STEP_END = b"ISO-10303-21;", b"END-ISO-10303-21;"
_IGES = sheet_iges().decode()
_COMMA = "decimals are written with a point"
REFUSED: dict[str, tuple[bytes, str]] = {
    "obj with a decimal comma": (
        _obj("v 1,5 2,0 0,0"),
        f"line 7: '1,5' is not a number: {_COMMA}",
    ),
    "obj with a word": (_obj("v 1 x 0"), "line 7: 'x' is not"),
    "obj with two coordinates": (_obj("v 1 2"), "line 7: a vertex has 2 of 3 coordinates"),
    "obj with a word as index": (_obj(more=b"f 1 x 3\n"), "line 21: '1 x 3' is not"),
    "obj with a word that counts back": (
        b"# \\\n\n" + _obj(more=b"f -1 -x 3\n"),
        "line 23: '-1 -x 3' is not",
    ),
    "obj cut in a word": (
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nusem",
        "ends within an element (usem)",
    ),
    "ply with a decimal comma": (_ply("1,5 2 0"), f"line 16: '1,5' is not a number: {_COMMA}"),
    "ply with a word as index": (_ply(face="3 0 1 x"), "line 18: 'x'"),
    "stl with a decimal comma": (
        _stl("vertex 0,5 2,0 3,0"),
        f"line 6: '0,5' is not a number: {_COMMA}",
    ),
    "stl with two coordinates": (_stl("vertex 0 2"), "line 6: 'endloop' is not a number"),
    "3mf with a decimal comma": (_package('x="1"', 'x="1,5"'), _COMMA),
    "3mf with a word": (_package('y="2"', 'y="x"'), "'x' is not a number"),
    "3mf without a coordinate": (_package('z="3"', ""), "'' is not a number"),
    "3mf without an index": (_package('v3="3"', ""), "'' is not a number"),
    "iges with a word": (_iges("10.,10.,", "x  ,10.,"), "'x' is not a number"),
    "iges with a line that is too short": (
        _iges("10.,10.,", "x,10.,"),
        "column 73 names no section",
    ),
    "iges with an odd number": (_iges("10.,10.,", "1_0,10.,"), "'1_0' is not a number"),
    "iges with an entity that is no number": (
        _iges("     118       3", "       x       3"),
        "'x' is not a number",
    ),
    "iges with an entity of two kinds": (
        _iges("     118       3", "     119       3"),
        "the entity is of kind 119 and of kind 118",
    ),
    "iges with parameters of another kind": (
        _iges("118,1,3", "119,1,3"),
        "the parameters are of kind 119, not 118",
    ),
    "step with a decimal comma": (
        _changed(cube_step().decode(), "1000.0", "1,5"),
        f"a point has 4 coordinates: {_COMMA}",
    ),
    "dxf with a word": (DXF.replace(b"1.0\n", b"x\n", 1), "x"),
}
# The first word is the extension.
LEFT_OUT: dict[str, tuple[bytes, str]] = {
    "obj without a finite vertex": (b"v nan 0 0\nv inf 0 0\n", "2 of 2 vertices are not"),
    "obj with a misplaced sign": (
        _obj(more=b"v 1 2 3.1+e2\n"),
        "1 of 9 vertices are not finite (first: line 21)",
    ),
    "obj with a vertex that is not finite": (_obj("v 1 nan 0"), "1 of 8 vertices are not finite"),
    "obj of a C library": (_obj("v 1 -1.#IND 0"), "1 of 8 vertices are"),
    "obj with a number beyond all": (_obj("v 1 1e999 0"), "not finite"),
    "obj with an index of no vertex": (
        _obj(more=b"f 1 2 9\n"),
        "1 of 13 faces have too few corners, or a vertex that does not exist (first: line 21)",
    ),
    "obj with an index before the first": (_obj(more=b"f -1 -2 -9\n"), "(first: line 21)"),
    "obj with index 0": (_obj(more=b"usemtl m\nf 0 1 2\n"), "1 of 1 faces"),
    "obj with a face of two corners": (_obj(more=b"f 1 2\n"), "first: line 21"),
    "obj with a line to no vertex": (_obj(more=b"l 1 99\n"), "1 of 1 lines"),
    "obj with an unknown word and no faces": (
        b"v 0 0 0\nv 1 0 0\nusem\n",
        "'usem' is not known (line 3)",
    ),
    "ply with a vertex that is not finite": (_ply("1 inf 0"), "1 of 8 vertices are not finite"),
    "ply with an index of no vertex": (
        _ply(face="3 0 1 8"),
        "1 of 12 faces have too few corners, or a vertex that does not exist (first: face 1)",
    ),
    "ply, binary, with an index of no vertex": (_binary_ply(8), "1 of 6 faces"),
    "ply, binary, with a negative index": (_binary_ply(-1), "(first: face 6)"),
    "stl with a vertex that is not finite": (_stl("vertex 0 nan 3"), "1 of 36 vertices"),
    "stl, binary, with a vertex that is not finite": (_binary_stl(np.inf), "1 of 36 vertices"),
    "off with a vertex that is not finite": (_changed(_OFF, "1 0 0", "nan 0 0"), "1 of 4"),
    "glb with a vertex that is not finite": (_glb(coordinate=np.nan), "1 of 8 vertices"),
    "glb with an index of no vertex": (
        _glb(index=99),
        "1 of 36 indices are of vertices that do not exist (first: index 0)",
    ),
    "3mf with an index of no vertex": (_package('v3="3"', 'v3="33"'), "1 of 12 faces of mesh 1"),
    "3mf with a vertex that is not finite": (_package('x="1"', 'x="nan"'), "not finite"),
    "x3d with an index of no vertex": (
        _changed(x3d(""), "0 1 3 -1", "0 1 33 -1"),
        "faces of mesh 1",
    ),
    "dxf with a vertex that is not finite": (DXF.replace(b"1.0\n", b"nan\n", 1), "not finite"),
}


def _facts(case: str, data: bytes) -> Facts:
    return facts_without_pictures("a." + re.split(r"\W", case)[0], data)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_number_or_no_vertex_is_refused_with_its_place(case: str) -> None:
    data, reason = REFUSED[case]
    assert reason in str(_facts(case, data).get("refused"))


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_left_out_is_a_fact(case: str) -> None:
    data, fact = LEFT_OUT[case]
    facts = _facts(case, data)
    assert fact in str(facts.get("leftOut")), facts


def test_valid_models_leave_nothing_out_and_commas_between_numbers_of_x3d_are_spaces() -> None:
    whole = facts_without_pictures("a.x3d", x3d("").encode())
    for facts in (whole, facts_without_pictures("a.obj", obj().encode())):
        assert "leftOut" not in facts
        assert facts["watertight"] is True, facts
    with_commas = x3d("").replace(" -1 ", ",-1,").replace("0 0 0 ", "0,0,0, ")
    assert facts_without_pictures("a.x3d", with_commas.encode()) == whole


def test_texts_that_only_open_elements_are_checked_in_a_time_that_grows_with_their_size() -> None:
    started = time.process_time()
    for check, data in (
        ("step", _STEP_START + b"/*" * 500_000 + _STEP_END),
        ("step", _STEP_START + b"(,'" * 300_000 + _STEP_END),
        ("collada", b"<COLLADA>" + b"<matrix " * 300_000),
        ("collada", b"<COLLADA>" + b"<matrix> 1 1" * 300_000),
        ("dxf", b"10\n0\n" * 300_000 + b"EOF"),
        ("fbx", b"Vertices: " * 100_000),
        ("fbx", b'P: "Lcl Translation", "a"' * 50_000),
    ):
        with suppress(RefusedError):
            CHECKS[check](data)
    for start in (
        b"<X3D " + b"<LineSet vertexCount='1 1' coordIndex=" * 50_000,
        b"<WORLD>" * 200_000,
    ):
        with_plain_lists(start)
    for data in (b"<??>" * 1000, b"<!---->" * 1000, b"<!" * 2000):
        assert without_prefix(data) == data
    assert time.process_time() - started < 10
