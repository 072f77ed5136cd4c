"""The command `vitrine` against a real runtime: import, killed and repeated; demo; download."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from tests.journeys.runtime import (
    ROOT,
    Runtime,
    kill_with_children,
    noise,
    wait_until,
)

DEBIAN_MODELS = Path("/usr/share/assimp/models")
"""What Debian's assimp-testmodels installs: 595 files that nobody here made."""


def vitrine(runtime: Runtime, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "vitrine", *map(str, arguments)]
    command += ["--endpoint", str(runtime.state / "endpoint.json")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def completed(runtime: Runtime, *arguments: str | Path) -> str:
    """Run a command that must succeed; answers with what it printed."""
    running = vitrine(runtime, *arguments)
    printed, errors = running.communicate(timeout=600)
    assert running.returncode == 0, printed + errors
    return printed


def figures(runtime: Runtime, folder: Path, database: str) -> dict[str, int]:
    """Run the demo; it must find every file. Answers with its last line."""
    printed = completed(runtime, "demo", folder, "--database", database)
    return json.loads(printed.strip().splitlines()[-1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve assets of ten files each; names with blanks, `+`, Unicode and without extension."""
    root = tmp_path / "import me"
    names = ("a.glb", "b b.stl", "c+d.obj", "ü.ply", "no-extension", "sub/e.png", "sub/f#g.txt")
    for asset in range(12):
        for number, name in enumerate((*names, "empty.bin", "h.json", "deep/er/i.las")):
            path = root / f"asset {asset:02}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            size = 0 if name.startswith("empty") else 1000 + number
            path.write_bytes(noise(size, f"{asset}/{name}"))
    return root


def test_the_samples_are_all_found(runtime: Runtime) -> None:
    found = figures(runtime, ROOT / "samples" / "library", f"db-{uuid4().hex[:8]}")
    assert found["searchable"] == found["files"] == 21


def test_an_import_that_died_with_the_runtime_is_finished_by_the_next(
    own_runtime: Runtime, folder: Path
) -> None:
    own_runtime.up()
    api = own_runtime.client()
    running = vitrine(own_runtime, "import", folder, "--database", "killed")

    def half_of_it_is_there() -> bool:
        answer = api.send("GET", "/database/killed/assets")
        return answer.status_code == 200 and len(answer.json()["Items"]) >= 5

    wait_until(half_of_it_is_there)
    kill_with_children(own_runtime.endpoint["pid"])
    running.communicate(timeout=120)
    assert running.returncode != 0

    own_runtime.up()
    found = figures(own_runtime, folder, "killed")
    assert (found["assets"], found["files"], found["searchable"]) == (12, 120, 120)


def test_a_second_import_uploads_nothing(runtime: Runtime, folder: Path) -> None:
    database = f"db-{uuid4().hex[:8]}"
    completed(runtime, "import", folder, "--database", database)
    printed = completed(runtime, "import", folder, "--database", database, "--json")
    counts = json.loads(printed)["counts"]
    assert (counts["uploaded"], counts["skipped"]) == (0, 120)


def test_what_is_downloaded_equals_what_was_imported(
    runtime: Runtime, folder: Path, tmp_path: Path
) -> None:
    database = f"db-{uuid4().hex[:8]}"
    completed(runtime, "import", folder, "--database", database)
    target = tmp_path / "fetched"
    completed(runtime, "download", database, "asset 03", "--output", target)
    source = folder / "asset 03"
    paths = sorted(p.relative_to(source) for p in source.rglob("*") if p.is_file())
    assert sorted(p.relative_to(target) for p in target.rglob("*") if p.is_file()) == paths
    for path in paths:
        assert (target / path).read_bytes() == (source / path).read_bytes()


def test_models_that_nobody_here_made_are_all_found(runtime: Runtime, folder: Path) -> None:
    """With Debian's models where they are installed, else with the folder made above."""
    there = DEBIAN_MODELS.is_dir()
    found = figures(runtime, DEBIAN_MODELS if there else folder, f"db-{uuid4().hex[:8]}")
    assert found["searchable"] == found["files"] == (595 if there else 120)
