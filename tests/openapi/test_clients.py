"""A stock linter and a stock client generator accept the OpenAPI document.

Both programs are installed below `build` at first use, which needs the network. They are not
dependencies of the project, because the generator requires an older version of a library of
`vitrine`.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import node_tools
from tests.architecture.test_openapi_tools import AMBIGUOUS

ROOT = Path(__file__).parents[2]
TOOLS = Path(__file__).parent / "tools"
INSTALLED = ROOT / "build" / "openapi-tools"
DOCUMENT = ROOT / "docs" / "reference" / "openapi.json"
AMBIGUOUS_PATHS = {
    f"Paths should resolve unambiguously. Found two ambiguous paths: `{item}` and `{other}`."
    for item, other in AMBIGUOUS
}


@pytest.fixture(scope="module")
def linter() -> Path:
    """Redocly's command line."""
    target = INSTALLED / "linter"
    node_tools.install(TOOLS, target)
    return target / "node_modules" / "@redocly" / "cli" / "bin" / "cli.js"


@pytest.fixture(scope="module")
def generator() -> Path:
    """The folder with `openapi-python-client` and what it needs."""
    target, wanted = INSTALLED / "generator", TOOLS / "requirements.txt"
    noted = target / "requirements.txt"
    if not (noted.is_file() and noted.read_bytes() == wanted.read_bytes()):
        shutil.rmtree(target, ignore_errors=True)
        uv = Path(sys.executable).parent / "uv"
        command = [str(uv), "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
        command += ["--python", sys.executable, "--target", str(target), "-r", str(wanted)]
        subprocess.run(command, check=True, timeout=300)
        shutil.copyfile(wanted, noted)
    return target


def test_a_stock_linter_finds_only_the_pairs_of_paths_of_the_contract(
    linter: Path,
) -> None:
    command = [str(node_tools.node()), str(linter), "lint", str(DOCUMENT), "--format=json"]
    quiet = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        command, cwd=INSTALLED, env=quiet, capture_output=True, text=True, check=True, timeout=120
    )
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["totals"]["errors"] == 0
    assert {problem["message"] for problem in document["problems"]} == AMBIGUOUS_PATHS


def test_a_stock_generator_makes_a_client_without_a_warning(
    generator: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
    command += ["--path", str(DOCUMENT), "--output-path", str(tmp_path / "made")]
    programs = f"{generator / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(generator), "PATH": programs}
    done = subprocess.run(
        command,
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, "arning" in done.stdout + done.stderr) == (0, False), (
        done.stdout + done.stderr
    )
    made = (tmp_path / "made").rglob("*.py")
    assert len(list(made)) > len(json.loads(DOCUMENT.read_text())["paths"])
