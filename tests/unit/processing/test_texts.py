"""Models as text: byte order marks, line ends, several libraries, escapes."""

import pytest

from backend.processing.files import Files
from backend.processing.readers import obj
from backend.processing.readers.step_header import originating_system
from backend.processing.scene import Material
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset, facts_without_pictures
from tests.unit.processing.test_documents import STEP
from tests.unit.processing.test_models import CUBES

_MARK = b"\xef\xbb\xbf"
_FACET = (
    b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
)
TEXTS = {
    "a.obj": samples.cube_obj(),
    "a.ply": CUBES["ascii.ply"],
    "a.stl": b"solid a vertex 1 2 3\n" + _FACET * 2 + b"endsolid\n",
    "a.off": CUBES["off"],
    "a.gltf": samples.encoded(samples.cube_gltf()),
}


def material(library: bytes, files: dict[str, bytes] | None = None) -> Material:
    asset: dict[str, bytes] = {"a__mtl": library, **(files or {})}
    data = samples.cube_obj("mtllib a.mtl\nusemtl m\n")
    return obj.read(data, Files(Asset(**asset))).materials[1]


@pytest.mark.parametrize("name", TEXTS)
def test_byte_order_marks_and_line_ends_change_nothing(name: str) -> None:
    data, files = TEXTS[name], {"cube__bin": samples.cube_binary()}
    wanted = facts_without_pictures(name, data, **files)
    assert int(str(wanted["triangles"])) > 1
    for end in (b"\n", b"\r\n", b"\r"):
        for mark in (b"", _MARK):
            changed = mark + data.replace(b"\n", end)
            assert facts_without_pictures(name, changed, **files) == wanted, (end, mark)


@pytest.mark.parametrize("name", ["solid", "solid a part", "SOLID vertex 1 2 3"])
def test_a_text_stl_may_be_one_line(name: str) -> None:
    text = " ".join([name, *(_FACET * 2).decode().split(), "endsolid a"])
    facts = facts_without_pictures("a.stl", text.encode())
    assert (facts.get("triangles"), facts.get("refused")) == (2, None)


def test_a_library_of_materials_may_begin_with_a_byte_order_mark() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        for mark in (b"", _MARK):
            library = mark + end.join((b"newmtl m", b"Kd 1 \\", b"0 0", b"map_Kd t.png", b""))
            read = material(library, {"t__png": b"pixels"})
            assert (read.color, read.texture) == ((1, 0, 0, 1), b"pixels"), (end, mark)


def test_one_line_may_name_several_libraries_and_names_may_have_spaces() -> None:
    heads = ("mtllib a.mtl b.mtl\n", "mtllib b.mtl\ta.MTL\n", "mtllib my own.mtl b.mtl\n")
    for head in heads:
        files: dict[str, bytes] = {"b__mtl": b"newmtl n\nKd 0 1 0\n"}
        first = head.split("mtllib ")[1].replace("b.mtl", "").strip()
        files[first.replace(".", "__")] = b"newmtl m\nKd 1 0 0\n"
        scene = obj.read(samples.cube_obj(f"{head}usemtl n\n"), Files(Asset(**files)))
        assert {each.name for each in scene.materials} == {"", "m", "n"}, head


def test_options_of_textures_may_leave_values_out() -> None:
    names = {
        "-s 2 t.png": "t.png",
        "-s 2 2 t.png": "t.png",
        "-o 1 -s 2 2 2 -mm 0 1 my  own.png": "my  own.png",
        "-clamp on -t 1 2 3 7": "7",
        "-bm 0.5 t.png": "t.png",
    }
    for value, name in names.items():
        files: dict[str, bytes] = {name.replace(".", "__"): b"pixels"}
        assert material(f"newmtl m\nmap_Kd {value}\n".encode(), files).texture, value


def test_transparency_is_the_opposite_of_opacity() -> None:
    for line, alpha in (
        ("Tr 0.75", 0.25),
        ("d 0.5\nTr 0.75", 0.5),
        ("d -halo 0.5", 0.5),
        ("Tr x", 1),
    ):
        assert material(f"newmtl m\n{line}\n".encode()).color[3] == alpha, line


def test_strings_of_step_are_decoded() -> None:
    strings = {
        r"\X2\00DC\X0\bercad": "Übercad",
        "it''s CAD": "it's CAD",
        "a;b (c), d": "a;b (c), d",
        r"\X4\0001F600\X0\ \X\E9\S\d C:\\x": "😀 éä C:\\x",
        r"\X2\00D\X0\ \X9": r"\X2\00D\X0\ \X9",
        "Über": "Über",
        "": "",
    }
    for written, read in strings.items():
        for name in ("block", "it''s (a, b); FILE_NAME"):
            data = STEP.replace("system of the tests", written).replace("'block'", f"'{name}'")
            for content in (data.encode(), data.replace("\n", "\r\n").encode()):
                assert originating_system(content) == read, (written, name)
    assert (
        originating_system(STEP.replace("system of", "Über").encode("latin-1")) == "Über the tests"
    )
    for short in (
        "FILE_NAME('a','b');",
        "FILE_NAME(",
        "",
        "FILE_NAME('a','b',('c'),('d'),'e',$,'f');",
    ):
        assert originating_system(short.encode()) == ""
