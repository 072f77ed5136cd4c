"""Reasons of refusals are true and never contain a file's bytes; files are found by their names."""

import io
import math
import random
import re
import struct
import unicodedata
from contextlib import suppress
from xml.etree import ElementTree

import pytest
from PIL import Image

from backend.domains.facts.models import FileReferences, Reference, StoredReferences
from backend.domains.facts.rules.resolution import Paths, resolve_references
from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers import obj
from backend.processing.readers.documents import read_image
from backend.processing.references import Resolver
from backend.processing.scene import RefusedError, words_of
from backend.spec.formats import EXTENSIONS_OF, reason_not_inspected
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset, facts_without_pictures
from tests.unit.processing.test_documents import cloud

_EXTENSIONS = [extension for read in EXTENSIONS_OF.values() for extension in read]
_TEXTS = (
    *("ac", "ase", "bvh", "csm", "dae", "enff", "gltf", "ifc", "iges", "irr", "irrmesh", "lws"),
    *("md5anim", "md5camera", "md5mesh", "nff", "obj", "off", "ogex", "raw", "smd", "step", "vta"),
    *("x3d", "xgl", "dxf", "igs", "stp", "amf", "xml", "ac3d", "acc"),
)


def test_bytes_that_are_no_text_are_refused_and_other_encodings_are_read() -> None:
    garbage = [random.Random(seed).randbytes(size) for seed, size in ((1, 60), (2, 5000))]

    wrong: dict[str, object] = {}
    for extension in _TEXTS:
        for data in garbage:
            facts = facts_without_pictures(f"a.{extension}", data)
            if facts.get("refused") != f"is not a text file, as {extension.upper()} files are":
                wrong[extension] = facts
    assert wrong == {}
    lines = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    for encoding in ("latin-1", "shift-jis", "utf-16", "utf-8"):
        comment = "# größe\n" if encoding == "latin-1" else "# 立方体の形\n"
        facts = facts_without_pictures("a.obj", (comment + lines).encode(encoding))
        assert facts.get("triangles") == 1, (encoding, facts)


def test_bytes_within_a_text_and_the_rest_of_a_file_are_not_repeated() -> None:
    noise = random.Random(3).randbytes(300)
    header = b"ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nproperty float y\n"
    for name, data in {
        "a.ply": header + b"property float z\nend_header\n" + noise,
        "a.stl": b"solid a\nfacet normal 0 0 0\nouter loop\nvertex " + noise + b"\nendsolid\n",
    }.items():
        reason = str(facts_without_pictures(name, data).get("refused"))
        assert "not a text file" in reason, (name, reason)
    ac = 'AC3Db\nMATERIAL "a" rgb 1 1 %s amb 1 1 1 emis 0 0 0 spec 0 0 0 shi 0 trans 0\n'
    ac += "OBJECT world\nkids 0\n" + "# more\n" * 100
    for token, reason in (("abc", "'abc' is not a number"), ("", "'amb' is not a number")):
        assert facts_without_pictures("a.ac", (ac % token).encode())["refused"] == reason


def test_files_that_are_blank_or_of_four_bytes_have_reasons() -> None:
    wrong: dict[str, object] = {}
    for extension in _EXTENSIONS:
        for data, reason in (
            (b"", "the file is empty"),
            (b" \r\n\t", "all 4 bytes are blank"),
            (b"\0" * 70_000, "all 70000 bytes are blank"),
        ):
            refused = inspect(f"a.{extension}", data, Asset()).refused
            if refused != reason:
                wrong[extension] = refused
    assert wrong == {}
    wrong: dict[str, object] = {}
    for extension in _EXTENSIONS:
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


def test_a_point_cloud_whose_scale_or_offset_is_no_number_or_zero_is_refused() -> None:
    for place in (131, 139, 147, 155, 163, 171):
        for value in (math.nan, math.inf, -math.inf):
            data = bytearray(cloud(compressed=False))
            struct.pack_into("<d", data, place, value)
            assert facts_without_pictures("a.las", bytes(data)) == {
                "refused": "the header has a scale or an offset that is not finite"
            }
    for place in (131, 139, 147):
        data = bytearray(cloud(compressed=False))
        struct.pack_into("<d", data, place, 0.0)
        assert facts_without_pictures("a.las", bytes(data)) == {
            "refused": "the header has a scale of zero: all points would be in one plane"
        }


def test_a_decoder_that_fails_on_a_picture_is_no_failure_of_the_reader() -> None:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(out, "AVIF")
    data = out.getvalue()
    for at in range(0, len(data), 7):
        broken = data[:at] + b"\xff" * 4 + data[at + 4 :]
        with suppress(RefusedError):
            read_image(broken)


_FORMS = ("NFC", "NFD")
_NAME = "Übersicht é.mtl"


def test_names_and_stored_references_are_found_in_both_unicode_forms() -> None:
    for stored_form in _FORMS:
        for written_form in _FORMS:
            stored = unicodedata.normalize(stored_form, f"Bär/{_NAME}")
            written = unicodedata.normalize(written_form, _NAME)
            resolver = Resolver(unicodedata.normalize(written_form, "Bär/a.obj"), {stored: 1})
            case = (stored_form, written_form)
            assert resolver.resolve(written) == (stored, "found", stored), case
            assert resolver.resolve(written.upper())[1:] == ("otherCase", stored), case
            assert resolver.resolve("C:\\x\\" + written)[2] == stored, case
    result, other = (unicodedata.normalize(form, "é.png") for form in _FORMS)
    resolver = Resolver("a.obj", {result: 1, other: 1})
    assert [resolver.resolve(item)[0] for item in (result, other)] == [result, other]
    for stored_form in _FORMS:
        for written_form in _FORMS:
            path = "/" + unicodedata.normalize(stored_form, f"Bär/{_NAME}")
            written = unicodedata.normalize(written_form, _NAME)
            reference = Reference(path=written, state="missing")
            model = FileReferences(
                "/" + unicodedata.normalize(written_form, "Bär/a.obj"),
                StoredReferences(references=[reference]),
            )
            references = resolve_references(model, Paths(frozenset({path})))
            assert [(item.state, item.path) for item in references] == [("found", path)], (
                written_form
            )


def test_bytes_after_a_glb_are_its_reason_and_padding_is_none() -> None:
    whole = samples.glb(samples.cube_gltf(), samples.cube_binary())
    for extra, reason in (
        (b"\xff" * 8, "8 bytes after"),
        (b"\0" * 4000, "4000 bytes after"),
        (whole, "bytes after"),
    ):
        refused = str(facts_without_pictures("a.glb", whole + extra).get("refused"))
        assert reason in refused, extra
        assert "truncated" not in refused
    assert facts_without_pictures("a.glb", whole + b"\0\0\0")["triangles"] == 12
    assert "truncated" in str(facts_without_pictures("a.glb", whole[:-50])["refused"])


def test_formats_without_a_reader_name_one_to_convert_to() -> None:
    targets = {
        "sldprt": "STEP",
        "dwg": "DXF",
    }
    for extension, target in targets.items():
        reason = reason_not_inspected(extension) or ""
        assert target in reason.rpartition("Convert the file to ")[2], extension
        assert inspect(f"a.{extension.upper()}", b"x", Asset()).refused == reason
    assert reason_not_inspected("txt") == "Files with the extension .txt are not inspected"
    assert reason_not_inspected("glb") is None


def test_materials_of_obj_are_found_in_both_unicode_forms() -> None:
    for library_form in _FORMS:
        for used_form in _FORMS:
            library = unicodedata.normalize(library_form, "newmtl Grün\nKd 0 1 0\n")
            used = unicodedata.normalize(used_form, "usemtl Grün\n")
            files = Files(Asset(a__mtl=library.encode()))
            scene = obj.read(samples.cube_obj(f"mtllib a.mtl\n{used}"), files)
            colors = {scene.materials[part.material].color for part in scene.parts}
            assert colors == {(0, 1, 0, 1)}, (library_form, used_form)
            assert scene.meshes == 1
    result, other = (unicodedata.normalize(form, "é") for form in _FORMS)
    library = f"newmtl {result}\nKd 1 0 0\nnewmtl {other}\nKd 0 1 0\n".encode()
    for used, color in ((result, (1, 0, 0, 1)), (other, (0, 1, 0, 1))):
        head = f"mtllib a.mtl\nusemtl {used}\n"
        scene = obj.read(samples.cube_obj(head), Files(Asset(a__mtl=library)))
        assert {scene.materials[part.material].color for part in scene.parts} == {color}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TypeError("unsupported operand type(s) for &: 'str' and 'int'"), None),
        (ValueError("invalid literal for int() with base 10: np.str_('abc')"), None),
        (struct.error("unpack requires a buffer of 8 bytes"), None),
        (KeyError(256), None),
        (OSError(22, "Invalid argument"), None),
        (RuntimeError(), None),
        (OSError("image file is truncated (3 bytes not processed)"), "image file is truncated"),
        (RuntimeError("Cannot read\nheader"), "Cannot read header"),
        (ElementTree.ParseError("no element found: line 1, column 0"), "no element found"),
    ],
)
def test_words_of_python_are_no_reason(error: Exception, words: str | None) -> None:
    assert words_of(error).startswith(words or "the content is not as expected")
