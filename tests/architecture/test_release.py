"""Reasons why a release is not built, and the content of its notes."""

from pathlib import Path
from typing import Any

import pytest

from tests import proofs, release
from tests.parts import LONG
from tests.proofs import Proof

ROOT = Path(__file__).parents[2]
VERSION = next(iter(release.package_versions().values()))


def test_every_package_has_the_version_that_the_changelog_describes() -> None:
    assert set(release.package_versions().values()) == {VERSION}
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert release.changelog_section(VERSION, changelog)
    assert release.changelog_section("0.0.9", changelog) == ""


@pytest.mark.parametrize(
    ("version", "tags", "due", "sentence"),
    [
        ("", (), (), "'' is not of the form 1.2.3"),
        ("v1.0.0", (), (), "'v1.0.0' is not of the form 1.2.3"),
        ("1.0.0", ("v0.9.0", "v1.0.0"), (), "1.0.0 exists already, as the tag v1.0.0"),
        ("1.0.1", (), (), "1.0.1 is not the version in a.toml, b.json"),
        ("1.0.0", (), ("docs", "kills", "web"), 'run: make prove PART="docs kills"'),
    ],
)
def test_a_release_is_refused(
    version: str, tags: tuple[str, ...], due: tuple[str, ...], sentence: str
) -> None:
    versions = {"a.toml": "1.0.0", "b.json": "1.0.0"}
    with pytest.raises(release.ReleaseError) as refused:
        release.check(version, versions=versions, tags=tags, due=due)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_due_long_parts_do_not_keep_a_release_but_are_named() -> None:
    release.check("1.0.0", versions={"a.toml": "1.0.0"}, tags=(), due=("scale",))
    record = {"scale": Proof("1df5046bca4d", "5f", 900), "fuzz": Proof("7e788d1e0000", "60", 300)}
    notes = release.notes("- An entry.", ["scale", "mlflow"], record)
    assert "- `scale`: passed at 1df5046bca4d, of other files\n" in notes
    assert "- `fuzz`: passed at 7e788d1e0000\n" in notes
    assert "- `mlflow`: no record\n" in notes
    assert notes.count("\n- `") == len(LONG)


def test_changes_are_refused_in_one_sentence_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    monkeypatch.setattr(proofs, "is_clean", lambda: False)
    assert release.main([VERSION]) == 1
    assert capsys.readouterr().err == (
        "no release: there are uncommitted changes; commit or remove them\n"
    )
    assert not (tmp_path / "dist").exists()


def test_the_materials_of_the_page_are_those_that_it_runs() -> None:
    development = [{"name": "cdx:npm:package:development", "value": "true"}]
    materials: dict[str, Any] = {
        "metadata": {"component": {"bom-ref": "page@1"}},
        "components": [
            {"bom-ref": "react@19", "properties": []},
            {"bom-ref": "vite@8", "properties": development},
        ],
        "dependencies": [
            {"ref": "page@1", "dependsOn": ["react@19", "vite@8"]},
            {"ref": "react@19", "dependsOn": []},
            {"ref": "vite@8", "dependsOn": ["react@19"]},
        ],
    }
    page = release.deployed_materials(materials)
    assert [item["bom-ref"] for item in page["components"]] == ["react@19"]
    assert page["dependencies"] == [
        {"ref": "page@1", "dependsOn": ["react@19"]},
        {"ref": "react@19", "dependsOn": []},
    ]
