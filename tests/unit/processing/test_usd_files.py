"""USD files that are broken or hostile: cycles, packages, cuts, limits."""

import pytest

from backend.processing import limits
from tests.unit.processing.samples import archive, facts_without_pictures
from tests.unit.processing.test_usd import FILES, LAYER, facts_of, lines, mesh, package


@pytest.mark.parametrize(
    ("names", "cycle"),
    [
        ("@a.usda@", "layer a.usda has cycles. Detected when layer a.usda"),
        ("@b.usda@, @./b.usda@", "layer b.usda has cycles. Detected when layer a.usda"),
        ("@c.usda@, @d.usda@", "2 layers that are missing (first: c.usda)"),
    ],
)
def test_a_cycle_of_layers_is_named(names: str, cycle: str) -> None:
    head = f"#usda 1.0\n(\nsubLayers = [{names}]\n)\n"
    facts = facts_of(head + mesh(), b__usda="#usda 1.0\n(\nsubLayers = [@a.usda@]\n)\n")
    assert cycle in facts["leftOut"]
    assert facts["triangles"] == 12


def test_a_cycle_is_named_before_the_references_that_it_breaks() -> None:
    layer = "#usda 1.0\n(\nsubLayers = [@a.usda@]\n)\n"
    layer += 'def Xform "A" (references = @a.usda@</A>) {}\n'
    facts = facts_of(layer + mesh())
    assert facts["leftOut"].startswith("2 errors of composition (first: Sublayer hierarchy")
    assert "layer a.usda has cycles" in facts["leftOut"]


def test_a_package_that_is_no_archive_is_refused_as_such() -> None:
    refused = facts_without_pictures("a.usdz", b"PX")["refused"]
    assert refused == "not a USD package: it does not begin as a ZIP archive"


_BOX = lines(LAYER + mesh())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "neither with PXR-USDC nor with #usda"),
        (_BOX[:-20], "not valid: line "),
        (b'#usda 1.0\ndef Cube "a b" {}\n', "'a b' is not a valid prim name"),
        (b"#usda 9.0\n", "not valid: "),
        (lines(LAYER + 'def "d" {\n' * 501 + "}" * 501), "nested more than 500 times"),
        (FILES["binary.usdc"][:60], "not valid: "),
        (bytes(64) + FILES["binary.usdc"][64:], "neither with PXR-USDC nor with #usda"),
        (FILES["binary.usdc"][:16] + b"\xff" * 8 + FILES["binary.usdc"][24:], "not valid: "),
        (archive(("a.usda", _BOX)), "has no file a.usda without compression"),
        (archive(("a.txt", _BOX)), "the package contains no USD file"),
        (package(("a.usda", _BOX))[:-30], "not a USD package: the archive cannot be read"),
        (package(("a.usda", b"{")), "neither with PXR-USDC nor with #usda"),
    ],
)
def test_a_broken_file_is_refused_with_its_fact(data: bytes, reason: str) -> None:
    refused = str(facts_without_pictures("a.usd", data)["refused"])
    assert reason in refused
    assert "/tmp" not in refused
    assert "::" not in refused
    assert " in file " not in refused


def test_a_file_that_is_cut_or_doubled_is_refused_or_has_its_facts() -> None:
    for name in ("text.usda", "binary.usdc", "package.usdz"):
        data = FILES[name]
        for part in range(1, 20):
            assert "refused" in facts_without_pictures(name, data[: len(data) * part // 20])
        doubled = facts_without_pictures(name, data + data)
        assert doubled.get("triangles", 12) == 12


def test_stages_beyond_a_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "NODES", 9)
    many = "".join(f'def Cube "c{nth}" {{}}\n' for nth in range(10))
    assert facts_of(LAYER + many) == {"refused": "places more than 9 prims"}
    indices, places = [0] * 9, ", ".join(["(0, 0, 0)"] * 9)
    instancer = 'def PointInstancer "p" { rel prototypes = </p/box>\n' + mesh()
    text = (
        f"{LAYER}{instancer}int[] protoIndices = {indices}\npoint3f[] positions = [{places}] }}\n"
    )
    assert facts_of(text) == {"refused": "places more than 9 prims"}
    monkeypatch.setattr(limits, "NODES", 100)
    monkeypatch.setattr(limits, "VERTICES", 50)
    assert facts_of(text) == {"refused": "more than 50 vertices"}
    monkeypatch.setattr(limits, "INPUT_BYTES", 1 << 10)
    assert facts_of(text + "#" * (1 << 10)) == {
        "refused": "its layers have more than 0 MiB together"
    }
