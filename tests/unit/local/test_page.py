import subprocess
from pathlib import Path

import pytest

import web_page
from web_page import build_page, built_page


class Npm:
    """Stands in for npm: builds a page of one file, or fails."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.fails = ""

    def run(self, command: list[str], *, cwd: Path, **_: object) -> object:
        self.calls.append(command)
        if self.fails:
            return subprocess.CompletedProcess(command, 1, "", self.fails)
        (cwd / "dist").mkdir(exist_ok=True)
        (cwd / "dist" / "index.html").write_text((cwd / "src.ts").read_text())
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def npm(monkeypatch: pytest.MonkeyPatch) -> Npm:
    fake = Npm()
    monkeypatch.setattr(web_page.subprocess, "run", fake.run)
    monkeypatch.setattr(web_page, "_npm", lambda: ["/nowhere/npm"])
    return fake


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    (folder / "src.ts").write_text("one")
    return folder


def _say(_text: str) -> None:
    pass


def test_the_page_is_built_once_for_its_sources(npm: Npm, sources: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    first, again = (build_page(tools, _say, sources) for _ in range(2))
    assert first == again == built_page(tools, sources)
    assert len(npm.calls) == 2  # install and build, the first time only

    (sources / "src.ts").write_text("two")
    assert built_page(tools, sources).folder is None
    changed = build_page(tools, _say, sources)
    assert changed.folder is not None
    assert (changed.folder / "index.html").read_text() == "two"
    assert first.folder is not None
    assert not first.folder.exists()


def test_what_is_not_part_of_the_page_does_not_build_it_again(
    npm: Npm, sources: Path, tmp_path: Path
) -> None:
    built = build_page(tmp_path / "tools", _say, sources)
    for name in ("node_modules", "dist", "e2e", "checks", "testing"):
        (sources / name).mkdir()
        (sources / name / "x.js").write_text("x")
    for name in ("src.test.ts", "src.component.test.tsx"):
        (sources / name).write_text("x")

    assert build_page(tmp_path / "tools", _say, sources) == built
    assert len(npm.calls) == 2


def test_a_machine_without_the_network_serves_without_the_page_and_prints_why(
    npm: Npm, sources: Path, tmp_path: Path
) -> None:
    npm.fails = "npm error code ENOTFOUND\nnpm error network request failed\nA complete log of x"
    found = build_page(tmp_path / "tools", _say, sources)
    assert found.folder is None
    assert "ENOTFOUND" in found.missing
    assert "complete log" not in found.missing

    npm.fails = ""
    assert build_page(tmp_path / "tools", _say, sources).folder is not None
