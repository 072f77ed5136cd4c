"""Templates are valid for CloudFormation's own linter, identical in every run, and protected."""

import subprocess
import sys
from pathlib import Path

from aws_cdk import App, Stack

from infra.assembly import add_stacks
from infra.assets import prepare
from infra.settings import default_context, read_settings
from tests.infra.templates import ROOT, Assembly, synthesize
from tests.infra.test_assembly import STACKS


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_two_runs_write_the_same_bytes(local: Assembly, tmp_path: Path) -> None:
    # The other run is `python app.py`, as in deployments and the local runtime.
    again = synthesize(tmp_path, {"stage": "local"}, seed="4711")
    assert _files(again.folder) == _files(local.folder)


def test_cfn_lint_finds_nothing(prod: Assembly, locked: Assembly, hardened: Assembly) -> None:
    """The stage `local` is not deployed to AWS."""
    templates = [str(path) for path in sorted(prod.folder.glob("*.template.json"))]
    templates += [str(path) for path in locked.folder.glob("*-storage.template.json")]
    for stack in ("search", "storage", "bootstrap", "api"):
        templates += [str(path) for path in hardened.folder.glob(f"*-{stack}.template.json")]
    lint = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run([lint, *templates], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def _stacks(tmp_path: Path, *, bundle: bool) -> list[Stack]:
    """The stacks of production with all optional ones, with empty layers."""
    context = default_context() | {"stage": "prod", "bundle": bundle, "tracking": True}
    app = App(outdir=str(tmp_path / "out"), context=context, analytics_reporting=False)
    (tmp_path / "assets").mkdir()
    add_stacks(app, read_settings(context.get), prepare(tmp_path / "assets", bundle=False))
    return [child for child in app.node.children if isinstance(child, Stack)]


def test_a_stage_that_can_be_deployed_is_protected_from_deletion(tmp_path: Path) -> None:
    stacks = _stacks(tmp_path, bundle=True)
    assert len(stacks) == len(STACKS) + 1
    assert [stack.stack_name for stack in stacks if not stack.termination_protection] == []
