"""Templates are valid for CloudFormation's own linter."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.infra.templates import ROOT, Assembly

OPTIONAL = ("search", "storage", "bootstrap", "api")
"""Stacks that have more resources or properties with all options."""


def test_cfn_lint_finds_nothing(synthesized: Callable[[str], Assembly]) -> None:
    folders = {name: synthesized(name).folder for name in ("prod", "hardened")}
    templates = [
        str(
            folders["hardened" if stack in OPTIONAL else "prod"]
            / f"vitrine-prod-{stack}.template.json"
        )
        for stack in synthesized("prod").templates
    ]
    assert len(templates) == 8
    templates.append(str(synthesized("page").folder / "vitrine-small-web.template.json"))
    lint = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run([lint, *templates], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
