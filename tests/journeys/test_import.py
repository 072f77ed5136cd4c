"""The command `vitrine` against a real runtime: import, repeated; demo; download."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.journeys.runtime import Runtime, noise

ASSETS = 6


def vitrine(runtime: Runtime, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "vitrine", *map(str, arguments)]
    command += ["--endpoint", str(runtime.state / "endpoint.json")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def completed(runtime: Runtime, *arguments: str | Path, seconds: float = 600) -> str:
    """Run a command that must succeed; return its output."""
    running = vitrine(runtime, *arguments)
    printed, errors = running.communicate(timeout=seconds)
    assert running.returncode == 0, printed + errors
    return printed


def figures(
    runtime: Runtime, folder: Path, database: str, *, seconds: float = 600
) -> dict[str, int]:
    """Run the demo, which must find every file; return its last line."""
    options = ("--database", database, "--timeout", str(seconds))
    printed = completed(runtime, "demo", folder, *options, seconds=1.5 * seconds)
    return json.loads(printed.strip().splitlines()[-1])


@dataclass(frozen=True)
class Imported:
    """A folder, the database of its import, and the result of the import."""

    folder: Path
    database: str
    figures: dict[str, int]


@pytest.fixture(scope="module")
def imported(runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    folder = folder_of_assets(tmp_path_factory.mktemp("folders") / "import me", ASSETS)
    database = f"db-{uuid4().hex[:8]}"
    return Imported(folder, database, figures(runtime, folder, database))


def folder_of_assets(root: Path, assets: int = 12) -> Path:
    """Write assets of ten files each; names have blanks, `+`, Unicode or no extension.

    None is of a format that is inspected: the tests are about names.
    """
    names = ("a.bin", "b b.csv", "c+d.dat", "ü.log", "no-extension", "sub/e.md", "sub/f#g.txt")
    for asset in range(assets):
        for number, name in enumerate((*names, "empty.bin", "h.json", "deep/er/i.xml")):
            path = root / f"asset {asset:02}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            size = 0 if name.startswith("empty") else 1000 + number
            path.write_bytes(noise(size, f"{asset}/{name}"))
    return root


def test_odd_names_are_all_found(imported: Imported) -> None:
    assert imported.figures["searchable"] == imported.figures["files"] == 10 * ASSETS


def test_a_second_import_uploads_nothing(runtime: Runtime, imported: Imported) -> None:
    options = ("--database", imported.database, "--json")
    printed = completed(runtime, "import", imported.folder, *options)
    counts = json.loads(printed)["counts"]
    assert (counts["uploaded"], counts["skipped"]) == (0, 10 * ASSETS)


def test_downloaded_files_equal_the_imported_ones(
    runtime: Runtime, imported: Imported, tmp_path: Path
) -> None:
    target = tmp_path / "fetched"
    completed(runtime, "download", imported.database, "asset 03", "--output", target)
    source = imported.folder / "asset 03"
    paths = sorted(p.relative_to(source) for p in source.rglob("*") if p.is_file())
    assert sorted(p.relative_to(target) for p in target.rglob("*") if p.is_file()) == paths
    for path in paths:
        assert (target / path).read_bytes() == (source / path).read_bytes()
