"""Headers that are cut off, doubled or zeroed: a reason, or the facts of the whole file."""

import io

import pytest
from PIL import Image

from backend.processing.inspection import inspect
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset, facts_without_pictures
from tests.unit.processing.test_documents import cloud, pdf
from tests.unit.processing.test_models import CUBES
from tests.unit.processing.test_texts import TEXTS

DXF = b"""0
SECTION
2
ENTITIES
0
3DFACE
8
0
10
0.0
20
0.0
30
0.0
11
1.0
21
0.0
31
0.0
12
1.0
22
1.0
32
0.0
13
0.0
23
1.0
33
0.0
0
3DFACE
8
0
10
0.0
20
0.0
30
1.0
11
1.0
21
0.0
31
1.0
12
1.0
22
1.0
32
1.0
13
0.0
23
1.0
33
1.0
0
ENDSEC
0
EOF
"""
FILES = {
    **{name: text for name, text in TEXTS.items() if name != "a.off"},
    "a.dxf": DXF,
    "b.ply": CUBES["binary.ply"],
    "b.stl": samples.cube_stl(),
    "a.glb": CUBES["glb"],
}


_PARTS = ("cut after 3", "cut after 20", "cut after 100", "doubled 16", "doubled 64")
WHOLE = {"a.obj": _PARTS}
"""Texts whose elements are counted nowhere: a part of one, or one with a part twice, is whole."""


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
    found: dict[str, object] = {}
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
                found[f"{name} {kind}"] = {key: facts.get(key) for key in ("triangles", "sizeX")}
    assert found == {}


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
    found: dict[str, object] = {}
    for name, data in files.items():
        whole = inspect(name, data, Asset())
        assert whole.refused is None, (name, whole.refused)
        for kind, broken in broken_headers(data).items():
            result = inspect(name, broken, Asset())
            if result.refused is None and result.facts != whole.facts:
                found[f"{name} {kind}"] = result.facts
    assert found == {}


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


def test_a_text_with_nul_bytes_is_refused_except_at_its_end() -> None:
    whole = facts_without_pictures("a.obj", samples.cube_obj())
    for data in (b"\0" * 9 + samples.cube_obj(), samples.cube_obj().replace(b"f", b"\0", 1)):
        assert "NUL" in str(facts_without_pictures("a.obj", data).get("refused"))
    assert facts_without_pictures("a.obj", samples.cube_obj() + b"\0" * 512) == whole


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_texts_in_utf_16_with_a_byte_order_mark_are_read(encoding: str) -> None:
    for name in ("a.obj", "a.off"):
        whole = facts_without_pictures(name, TEXTS[name])
        changed = ("\ufeff" + TEXTS[name].decode()).encode(encoding)
        assert facts_without_pictures(name, changed) == whole, name
