"""Files of the newest readers, in the confined process."""

from pathlib import Path

import pytest

from backend.processing.jail.parent import Jail
from backend.spec.formats import FORMAT_OF, extension_of
from tests.integration.processing.test_jail import Folder, run
from tests.unit.processing.test_blend import blend
from tests.unit.processing.test_e57 import FILES as E57
from tests.unit.processing.test_e57 import TWO_SCANS
from tests.unit.processing.test_heif import FILES as HEIF
from tests.unit.processing.test_ifc import FILES as IFC
from tests.unit.processing.test_light import FILES as LIGHT
from tests.unit.processing.test_media import AV1
from tests.unit.processing.test_media import FILES as MEDIA
from tests.unit.processing.test_negatives import FILES as NEGATIVES
from tests.unit.processing.test_rhino import FILES as RHINO
from tests.unit.processing.test_robots import FILES as ROBOTS
from tests.unit.processing.test_splats import FILES as SPLATS
from tests.unit.processing.test_svg import FILES as SVG
from tests.unit.processing.test_svg import svg
from tests.unit.processing.test_usd import FILES as USD
from tests.unit.processing.test_usd import lines, mesh

FILES = {
    **LIGHT,
    **HEIF,
    **SPLATS,
    **E57,
    **RHINO,
    **IFC,
    **USD,
    **SVG,
    **MEDIA,
    **NEGATIVES,
    "text.svg": svg("<text y='18'>Käfig</text>"),
    "av1.mp4": AV1,
    "two.e57": TWO_SCANS,
    "a.blend": blend("-v300"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_facts_and_pictures_in_the_confined_process(
    name: str, jail: Jail, tmp_path: Path
) -> None:
    outcome = run(jail, tmp_path, name, FILES[name])
    assert outcome.result.refused is None
    assert outcome.result.facts["format"]
    assert outcome.thumbnail
    is_model = FORMAT_OF[extension_of(name)].kind in {"glTF", "model"}
    assert outcome.glb or not is_model or name == "a.blend"
    assert (outcome.structure is not None) == (name in IFC)


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_has_facts_or_a_reason_in_the_confined_process(
    name: str, jail: Jail, tmp_path: Path
) -> None:
    data = FILES[name]
    for part in (data[: len(data) // 2], bytes(64) + data[64:], data[:12] + b"\xff" * 12):
        outcome = run(jail, tmp_path, name, part)
        assert bool(outcome.result.refused) != bool(outcome.result.facts)
        assert "crash" not in (outcome.result.refused or "")


def test_layers_of_a_stage_are_files_of_its_asset(jail: Jail, tmp_path: Path) -> None:
    outside = ("../../up.usda", "/etc/passwd", "https://example.com/a.usda")
    references = "</b>, ".join(f"@{name}@" for name in ("parts/Käfig.usda", *outside))
    stage = lines(f'#usda 1.0\ndef "b" (references = [{references}</b>]) {{}}\n')
    part = lines('#usda 1.0\ndef "b" (payload = @../../立方体.usdc@</box>) {}\n')
    files: dict[str, bytes] = {
        "a/parts/Käfig__usda": part,
        "立方体__usdc": lines("#usda 1.0\n" + mesh()),
    }
    outcome = run(jail, tmp_path, "a/stage.usda", stage, Folder(**files))
    assert outcome.result.refused is None
    assert (outcome.result.facts["triangles"], outcome.result.facts["layers"]) == (12, 3)
    assert str(outcome.result.facts["leftOut"]).startswith("3 layers that are missing")
    assert {reference.path: reference.state for reference in outcome.result.references} == {
        "a/parts/Käfig.usda": "found",
        "立方体.usdc": "found",
        **dict(zip(outside, ("outside", "absolute", "external"), strict=True)),
    }


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_consists_of_meshes_of_its_asset(name: str, jail: Jail, tmp_path: Path) -> None:
    text, named = ROBOTS[name]
    # Packages are folders of the asset, the file is in one of them.
    files = {path.partition("://")[2] or f"робот/{path}": named[path] for path in named}
    outcome = run(jail, tmp_path, f"робот/{name}", text.encode(), Folder(**files))
    assert outcome.result.refused is None
    assert outcome.result.facts["meshes"] == (4 if name == "cheetah.xml" else 3)
    assert "missing" not in str(outcome.result.facts.get("leftOut"))
    assert {reference.state for reference in outcome.result.references} - {"found"} <= {"missing"}
    assert outcome.thumbnail
    assert outcome.glb
