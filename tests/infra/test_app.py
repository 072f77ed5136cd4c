"""`python app.py` and the CDK command that runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import app
from backend.spec.functions import FUNCTIONS
from infra.settings import SettingsError, default_context, functions_left_out, read_settings
from tests.infra.templates import ROOT, Assembly

BY_CDK = {"CDK_CLI_VERSION": "2.1148.1"}


@pytest.mark.parametrize(
    ("context", "environment", "fact"),
    [
        ({"serachInVpc": "true"}, {}, "serachInVpc: is not a setting; the nearest is searchInVpc"),
        ({"stage": "local"}, BY_CDK, "the stage local has no setting `bundle`: "),
    ],
)
def test_the_app_prints_what_is_wrong_in_one_line_and_fails(
    context: dict[str, str], environment: dict[str, str], fact: str
) -> None:
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "CDK_CONTEXT_JSON": json.dumps(context)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(fact)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ([], "stage: not given; add -c stage=NAME (local, minimal, prod, small)"),
        (
            ["-c", "stage=prod"],
            "-c: app.py has no options; they are given to the CDK command: make diff STAGE= ARGS=",
        ),
    ],
)
def test_the_app_has_its_stage_from_the_command(
    options: list[str],
    fact: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["app.py", *options])
    for name, value in BY_CDK.items():
        monkeypatch.setenv(name, value)
    assert (app.main(), capsys.readouterr().err) == (2, f"{fact}\n")


def test_a_broken_cdk_json_is_named_by_the_app_and_by_no_check_before_it(tmp_path: Path) -> None:
    path = tmp_path / "cdk.json"
    for content, fact in (
        ('{"context": {\n"stages": {},,}}', r"Invalid JSON: .* at line 2 column 14$"),
        ("[]", "must be an object with an object `context`$"),
        ('{"app": "python app.py"}', "must be an object with an object `context`$"),
    ):
        path.write_text(content)
        with pytest.raises(SettingsError, match=rf"^cdk\.json: {fact}"):
            default_context(path)
    command = ["make", "-f", str(ROOT / "Makefile"), "stage", "STAGE=minimal"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_needs_a_stage_and_runs_the_python_of_the_environment() -> None:
    configuration = json.loads((ROOT / "cdk.json").read_text())
    assert configuration["app"] == ".venv/bin/python app.py"
    assert "stage" not in configuration["context"]


def test_the_command_is_pinned_with_its_hash() -> None:
    lock = json.loads((ROOT / "infra" / "cdk" / "package-lock.json").read_text())
    packages = lock["packages"]
    assert set(packages) == {"", "node_modules/aws-cdk"}
    assert packages[""]["dependencies"] == {"aws-cdk": packages["node_modules/aws-cdk"]["version"]}
    assert packages["node_modules/aws-cdk"]["integrity"].startswith("sha512-")


def test_bootstrap_runs_again_when_a_declaration_or_its_settings_change(
    small: Assembly, prod: Assembly, locked: Assembly
) -> None:
    runs = [assembly.resource("BootstrapRun") for assembly in (small, prod, locked)]
    same, of_prod, changed = (run.properties["Declarations"] for run in runs)
    assert same == of_prod != changed  # `locked` names another administrator


def test_the_assets_are_the_code_and_the_requirements_of_each_layer(prod: Assembly) -> None:
    """The packages of a layer are installed only for a deployment."""
    folders = [path for path in prod.folder.glob("asset.*") if path.is_dir()]
    (code,) = (path for path in folders if (path / "backend").is_dir())
    assert [path.name for path in code.iterdir()] == ["backend"]
    assert {path.suffix for path in code.rglob("*") if path.is_file()} == {".py", ".json"}
    assert (code / "backend" / "spec" / "tables" / "model.py").is_file()
    layers = [path for path in folders if path != code]
    assert all([path.name for path in layer.iterdir()] == ["requirements.txt"] for layer in layers)
    pinned = {path.read_bytes() for path in (ROOT / "backend").glob("requirements*.txt")}
    assert {(layer / "requirements.txt").read_bytes() for layer in layers} == pinned
    assert len(layers) == 3


def test_functions_that_are_left_out_are_not_in_the_templates(
    synthesized: Callable[[str], Assembly],
) -> None:
    for name, search in (("without-search", "none"), ("small", "provisioned")):
        settings = read_settings((default_context() | {"stage": "small", "search": search}).get)
        created = synthesized(name).of_type("AWS::Lambda::Function")
        left_out = {spec.name for spec in FUNCTIONS if spec.name not in created}
        assert left_out == functions_left_out(settings).keys()
