"""Templates are valid for CloudFormation's own linter, and the same in every run."""

import subprocess
import sys
from pathlib import Path

from tests.infra.templates import ROOT, Assembly, synthesize


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_two_runs_write_the_same_bytes(local: Assembly, tmp_path: Path) -> None:
    # The other run is `python app.py`, as deployments and the local runtime run it.
    again = synthesize(tmp_path, {"stage": "local"}, seed="4711")
    assert _files(again.folder) == _files(local.folder)


def test_cfn_lint_finds_nothing(
    local: Assembly, prod: Assembly, locked: Assembly, hardened: Assembly
) -> None:
    templates = [
        str(path)
        for assembly in (local, prod)
        for path in sorted(assembly.folder.glob("*.template.json"))
    ]
    templates += [str(path) for path in locked.folder.glob("*-storage.template.json")]
    for stack in ("search", "storage", "bootstrap", "api"):
        templates += [str(path) for path in hardened.folder.glob(f"*-{stack}.template.json")]
    lint = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run([lint, *templates], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
