"""Files are found by their names in both Unicode forms; reasons of refusals are true."""

import unicodedata

from backend.domains.facts.models import FileReferences, Reference, StoredReferences
from backend.domains.facts.rules.resolution import Paths, resolve_references
from backend.processing.files import Files
from backend.processing.inspection import inspect
from backend.processing.readers import obj
from backend.processing.references import Resolver
from backend.spec.formats import reason_not_inspected
from tests.unit.processing import samples
from tests.unit.processing.samples import Asset, facts_without_pictures

_FORMS = ("NFC", "NFD")
_NAME = "Übersicht é.mtl"


def test_names_are_found_in_both_unicode_forms() -> None:
    for stored_form in _FORMS:
        for written_form in _FORMS:
            stored = unicodedata.normalize(stored_form, f"Bär/{_NAME}")
            written = unicodedata.normalize(written_form, _NAME)
            resolver = Resolver(unicodedata.normalize(written_form, "Bär/a.obj"), {stored: 1})
            case = (stored_form, written_form)
            assert resolver.resolve(written) == (stored, "found", stored), case
            assert resolver.resolve(written.upper())[1:] == ("otherCase", stored), case
            assert resolver.resolve("C:\\x\\" + written)[2] == stored, case


def test_a_name_in_the_form_that_is_written_comes_first() -> None:
    one, other = (unicodedata.normalize(form, "é.png") for form in _FORMS)
    resolver = Resolver("a.obj", {one: 1, other: 1})
    assert [resolver.resolve(each)[0] for each in (one, other)] == [one, other]


def test_stored_references_resolve_in_both_unicode_forms() -> None:
    for stored_form in _FORMS:
        for written_form in _FORMS:
            path = "/" + unicodedata.normalize(stored_form, f"Bär/{_NAME}")
            written = unicodedata.normalize(written_form, _NAME)
            reference = Reference(path=written, state="missing")
            model = FileReferences(
                "/" + unicodedata.normalize(written_form, "Bär/a.obj"),
                StoredReferences(references=[reference]),
            )
            found = resolve_references(model, Paths(frozenset({path})))
            assert [(each.state, each.path) for each in found] == [("found", path)], written_form


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
        "usd": "GLB",
        "usda": "GLB",
        "usdc": "GLB",
        "usdz": "GLB",
        "e57": "LAS",
        "heic": "JPEG",
        "heif": "JPEG",
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


def test_a_material_in_the_form_that_is_used_comes_first() -> None:
    one, other = (unicodedata.normalize(form, "é") for form in _FORMS)
    library = f"newmtl {one}\nKd 1 0 0\nnewmtl {other}\nKd 0 1 0\n".encode()
    for used, color in ((one, (1, 0, 0, 1)), (other, (0, 1, 0, 1))):
        head = f"mtllib a.mtl\nusemtl {used}\n"
        scene = obj.read(samples.cube_obj(head), Files(Asset(a__mtl=library)))
        assert {scene.materials[part.material].color for part in scene.parts} == {color}
