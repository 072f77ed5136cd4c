"""Headers and texts that are cut, doubled or zeroed, or have other marks and encodings."""

import io

import pytest
from PIL import Image

from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers import obj
from backend.processing.readers.step_header import originating_system
from backend.processing.scene import Material
from tests.unit.processing import samples
from tests.unit.processing.cad import cube_step, sheet_iges
from tests.unit.processing.samples import Asset, facts_without_pictures
from tests.unit.processing.test_documents import STEP, cloud, pdf
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

DXF = (
    (
        "0 SECTION 2 ENTITIES 0 3DFACE 8 0 10 0.0 20 0.0 30 0.0 11 1.0 21 0.0 31 0.0 12 1.0 22 1.0 "
        "32 0.0 13 0.0 23 1.0 33 0.0 0 3DFACE 8 0 10 0.0 20 0.0 30 1.0 11 1.0 21 0.0 31 1.0 "
        "12 1.0 22 1.0 32 1.0 13 0.0 23 1.0 33 1.0 0 ENDSEC 0 EOF "
    )
    .replace(" ", "\n")
    .encode()
)
FILES = {
    **{name: text for name, text in TEXTS.items() if name != "a.off"},
    "a.dxf": DXF,
    "b.ply": CUBES["binary.ply"],
    "b.stl": samples.cube_stl(),
    "a.glb": CUBES["glb"],
}


_PARTS = ("cut after 3", "cut after 20", "cut after 100", "doubled 16", "doubled 64")
WHOLE = {"a.obj": _PARTS, "a.splat": ("doubled 64",)}
"""Files whose elements are counted nowhere: a part of one, or one with a part twice, is whole."""


def broken_headers(data: bytes) -> dict[str, bytes]:
    start = min(64, len(data) // 2)
    return {
        "cut after 3": data[:3],
        "cut after 20": data[:20],
        "cut after 100": data[: min(100, len(data) - 1)],
        "doubled 16": data[:16] + data,
        "doubled 64": data[:start] + data,
        "zeroed 4": bytes(4) + data[4:],
        "zeroed 16": bytes(16) + data[16:],
        "zeroed 64": bytes(start) + data[start:],
    }


def test_a_broken_header_is_refused_or_changes_nothing() -> None:
    result: dict[str, object] = {}
    for name, data in FILES.items():
        whole = facts_without_pictures(name, data, cube__bin=samples.cube_binary())
        assert "refused" not in whole, (name, whole)
        whole.pop("generator", None)
        for kind, broken in broken_headers(data).items():
            if kind in WHOLE.get(name, ()):
                continue
            facts = facts_without_pictures(name, broken, cube__bin=samples.cube_binary())
            facts.pop("generator", None)  # the header of STL is its name only
            if not {"refused", "endsWithinLine"} & facts.keys() and facts != whole:
                result[f"{name} {kind}"] = {key: facts.get(key) for key in ("triangles", "sizeX")}
    assert result == {}


_IMAGES = ("AVIF", "BMP", "DDS", "GIF", "ICO", "JPEG", "JPEG2000", "PNG", "TGA", "TIFF", "WEBP")
_EXTENSIONS = {"JPEG2000": "jp2"}


def _image(name: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (20, 10), "red").save(out, name)
    return out.getvalue()


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, about broken EXIF
def test_broken_headers_of_images_and_documents_are_refused_or_change_nothing() -> None:
    files = {f"a.{_EXTENSIONS.get(name, name.lower())}": _image(name) for name in _IMAGES}
    files |= {"a.las": cloud(compressed=False), "a.laz": cloud(compressed=True), "a.pdf": pdf()}
    outcome: dict[str, object] = {}
    for name, data in files.items():
        whole = inspect(name, data, Asset())
        assert whole.refused is None, (name, whole.refused)
        for kind, broken in broken_headers(data).items():
            result = inspect(name, broken, Asset())
            if result.refused is None and result.facts != whole.facts:
                outcome[f"{name} {kind}"] = result.facts
    assert outcome == {}


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("format ascii 1.0\nelement vertex 1\nelement vertex 1\nproperty float x", "vertex twice"),
        ("format ascii 1.0\nformat ascii 1.0\nelement vertex 1\nproperty float x", "format twice"),
        ("format ascii 1.0\nelement vertex 1\nelement face 0", "vertex has no properties"),
    ],
)
def test_a_header_of_ply_that_contradicts_itself_is_refused(header: str, reason: str) -> None:
    data = f"ply\n{header}\nend_header\n1\n".encode()
    assert reason in str(facts_without_pictures("a.ply", data).get("refused"))


def test_texts_with_nul_bytes_are_refused_and_in_utf_16_read() -> None:
    whole = facts_without_pictures("a.obj", samples.cube_obj())
    for data in (b"\0" * 9 + samples.cube_obj(), samples.cube_obj().replace(b"f", b"\0", 1)):
        assert "NUL" in str(facts_without_pictures("a.obj", data).get("refused"))
    assert facts_without_pictures("a.obj", samples.cube_obj() + b"\0" * 512) == whole
    for encoding in ("utf-16-le", "utf-16-be"):
        for name in ("a.obj", "a.off"):
            whole = facts_without_pictures(name, TEXTS[name])
            changed = ("\ufeff" + TEXTS[name].decode()).encode(encoding)
            assert facts_without_pictures(name, changed) == whole, name


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


def test_a_library_of_materials_may_have_several_files_marks_and_options() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        for mark in (b"", _MARK):
            library = mark + end.join((b"newmtl m", b"Kd 1 \\", b"0 0", b"map_Kd t.png", b""))
            read = material(library, {"t__png": b"pixels"})
            assert (read.color, read.texture) == ((1, 0, 0, 1), b"pixels"), (end, mark)
    heads = ("mtllib a.mtl b.mtl\n", "mtllib b.mtl\ta.MTL\n", "mtllib my own.mtl b.mtl\n")
    for head in heads:
        files: dict[str, bytes] = {"b__mtl": b"newmtl n\nKd 0 1 0\n"}
        first = head.split("mtllib ")[1].replace("b.mtl", "").strip()
        files[first.replace(".", "__")] = b"newmtl m\nKd 1 0 0\n"
        scene = obj.read(samples.cube_obj(f"{head}usemtl n\n"), Files(Asset(**files)))
        assert {item.name for item in scene.materials} == {"", "m", "n"}, head
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


ENDED = {
    **{name: FILES[name] for name in ("a.ply", "a.stl")},
    "a.dxf": DXF,
    "a.obj": samples.cube_obj(),
}


def _cuts(data: bytes) -> range:
    return range(len(data) // 3, len(data.rstrip()) - 1, max(1, len(data) // 60))


def test_a_text_that_is_cut_within_a_line_is_refused_or_reported() -> None:
    silent: list[str] = []
    for name, data in ENDED.items():
        whole = facts_without_pictures(name, data)
        assert "refused" not in whole, (name, whole)
        assert "endsWithinLine" not in whole
        for at in _cuts(data):
            cut = data[:at]
            if cut.endswith(b"\n") and name == "a.obj":
                continue  # another file, which is whole
            facts = facts_without_pictures(name, cut)
            error = "refused" in facts or facts.get("endsWithinLine") is True
            if not error and facts != whole:
                silent.append(f"{name} {at}: {facts.get('triangles')}")
    assert silent == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_and_missing_ones_at_the_end_do_not_matter_to_end_marks(end: bytes) -> None:
    for name, data in ENDED.items():
        whole = facts_without_pictures(name, data)
        for changed in (data.replace(b"\n", end), data.replace(b"\n", end).rstrip()):
            facts = facts_without_pictures(name, changed)
            facts.pop("endsWithinLine", None)
            assert facts == whole, (name, end)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2", "ends within an element (f)"),
        ("a.stl", FILES["a.stl"].replace(b"endsolid", b""), "does not end with endsolid"),
        ("a.dxf", DXF.rstrip()[:-3], "does not end with EOF"),
    ],
)
def test_the_reason_names_what_is_missing(name: str, data: bytes, reason: str) -> None:
    assert reason in str(facts_without_pictures(name, data).get("refused"))


def test_cad_files_that_are_cut_doubled_or_zeroed_are_refused_or_whole() -> None:
    outcome: dict[str, object] = {}
    for name, data in {"a.step": cube_step(), "a.igs": sheet_iges()}.items():
        whole = inspect(name, data, Asset())
        assert whole.refused is None, (name, whole.refused)
        broken = {f"cut {part}": data[: len(data) * part // 10] for part in (1, 3, 5, 7, 9)}
        broken |= {f"doubled {size}": data[:size] + data for size in (16, 64)}
        broken |= {f"zeroed {size}": bytes(size) + data[size:] for size in (4, 16, 64)}
        for kind, content in broken.items():
            result = inspect(name, content, Asset())
            if result.refused is None and result.facts != whole.facts:
                outcome[f"{name} {kind}"] = result.facts
            if kind.startswith("cut") and result.refused is None:
                outcome[f"{name} {kind}"] = "read"
    assert outcome == {}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_marks_and_line_ends_of_cad_files_change_nothing(end: bytes) -> None:
    for name, data in {"a.step": cube_step(), "a.igs": sheet_iges()}.items():
        whole = inspect(name, data, Asset())
        for mark in (b"", b"\xef\xbb\xbf"):
            result = inspect(name, mark + data.replace(b"\n", end), Asset())
            assert (result.refused, result.facts) == (None, whole.facts), (name, mark, end)
