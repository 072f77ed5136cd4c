"""Reasons of refusals describe the file in words, and never contain its bytes."""

import io
import math
import random
import re
import struct
from contextlib import suppress

import pytest
from PIL import Image

from backend.processing.inspection import inspect
from backend.processing.readers.documents import read_image
from backend.processing.scene import RefusedError
from backend.spec.formats import INSPECT_CAD_EXTENSIONS, INSPECT_EXTENSIONS
from tests.unit.processing.samples import Asset, facts_without_pictures
from tests.unit.processing.test_documents import cloud

_TEXTS = (
    *("ac", "ase", "bvh", "csm", "dae", "enff", "gltf", "ifc", "iges", "irr", "irrmesh", "lws"),
    *("md5anim", "md5camera", "md5mesh", "nff", "obj", "off", "ogex", "raw", "smd", "step", "vta"),
    *("x3d", "xgl", "dxf", "igs", "stp", "amf", "xml", "ac3d", "acc"),
)


def test_bytes_that_are_no_text_are_refused_so_in_every_text_format() -> None:
    garbage = [random.Random(seed).randbytes(size) for seed, size in ((1, 60), (2, 5000))]

    wrong: dict[str, object] = {}
    for extension in _TEXTS:
        for data in garbage:
            facts = facts_without_pictures(f"a.{extension}", data)
            if facts.get("refused") != f"is not a text file, as {extension.upper()} files are":
                wrong[extension] = facts
    assert wrong == {}


def test_bytes_within_a_text_are_not_repeated() -> None:
    noise = random.Random(3).randbytes(300)
    header = b"ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nproperty float y\n"
    for name, data in {
        "a.ply": header + b"property float z\nend_header\n" + noise,
        "a.stl": b"solid a\nfacet normal 0 0 0\nouter loop\nvertex " + noise + b"\nendsolid\n",
    }.items():
        reason = str(facts_without_pictures(name, data).get("refused"))
        assert "not a text file" in reason, (name, reason)


def test_texts_in_other_encodings_are_texts() -> None:
    lines = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    for encoding in ("latin-1", "shift-jis", "utf-16", "utf-8"):
        comment = "# größe\n" if encoding == "latin-1" else "# 立方体の形\n"
        facts = facts_without_pictures("a.obj", (comment + lines).encode(encoding))
        assert facts.get("triangles") == 1, (encoding, facts)


def test_blank_files_are_refused_as_such_in_every_format() -> None:
    wrong: dict[str, object] = {}
    for extension in INSPECT_EXTENSIONS | INSPECT_CAD_EXTENSIONS:
        for data, reason in (
            (b"", "the file is empty"),
            (b" \r\n\t", "all 4 bytes are blank"),
            (b"\0" * 70_000, "all 70000 bytes are blank"),
        ):
            refused = inspect(f"a.{extension}", data, Asset()).refused
            if refused != reason:
                wrong[extension] = refused
    assert wrong == {}


def test_files_of_four_bytes_have_reasons_without_words_of_libraries() -> None:
    wrong: dict[str, object] = {}
    for extension in INSPECT_EXTENSIONS | INSPECT_CAD_EXTENSIONS:
        for data in (b"ply\n", b"LASF", b"PK\3\4", b"\0\1\2\3"):
            refused = str(inspect(f"a.{extension}", data, Asset()).refused)
            if refused == "None" or re.search(r"b'|b\"|Error|Exception|MiB", refused):
                wrong[extension] = refused
    assert wrong == {}
    assert facts_without_pictures("a.ply", b"ply\n") == {
        "refused": "truncated: the header of the PLY file does not end"
    }
    assert facts_without_pictures("a.las", b"ply\n") == {
        "refused": "not a LAS file: it does not begin with LASF"
    }


def test_a_point_cloud_whose_scale_or_offset_is_no_number_is_refused() -> None:
    for place in (131, 139, 147, 155, 163, 171):
        for value in (math.nan, math.inf, -math.inf):
            data = bytearray(cloud(compressed=False))
            struct.pack_into("<d", data, place, value)
            assert facts_without_pictures("a.las", bytes(data)) == {
                "refused": "the header has a scale or an offset that is not finite"
            }


@pytest.mark.parametrize("place", [131, 139, 147])
def test_a_point_cloud_whose_scale_is_zero_is_refused(place: int) -> None:
    data = bytearray(cloud(compressed=False))
    struct.pack_into("<d", data, place, 0.0)
    assert facts_without_pictures("a.las", bytes(data)) == {
        "refused": "the header has a scale of zero: all points would be in one plane"
    }


def test_reasons_do_not_repeat_the_rest_of_a_file() -> None:
    ac = 'AC3Db\nMATERIAL "a" rgb 1 1 %s amb 1 1 1 emis 0 0 0 spec 0 0 0 shi 0 trans 0\n'
    ac += "OBJECT world\nkids 0\n" + "# more\n" * 100
    for token, reason in (("abc", "'abc' is not a number"), ("", "'amb' is not a number")):
        assert facts_without_pictures("a.ac", (ac % token).encode())["refused"] == reason


def test_a_decoder_that_fails_on_a_picture_is_no_failure_of_the_reader() -> None:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(out, "AVIF")
    data = out.getvalue()
    for at in range(0, len(data), 7):
        broken = data[:at] + b"\xff" * 4 + data[at + 4 :]
        with suppress(RefusedError):
            read_image(broken)
