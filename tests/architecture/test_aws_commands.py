"""Commands of the AWS CLI and of `vitrine` on pages: services, operations and options exist.

Commands that need an AWS account are not run here. They are compared with botocore's models,
commands of `vitrine` with its own help.
"""

import re
import shlex
from functools import cache
from pathlib import Path

import botocore.session
import pytest
from botocore import xform_name
from botocore.model import OperationModel
from typer.testing import CliRunner
from vitrine.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FIRST_DEPLOYMENT = ROOT / "docs" / "guides" / "first-deployment.md"
MOST_STEPS = 15
EVERYWHERE = {"output", "query"}
OWN_OF_S3 = {"rm", "sync"}
"""Commands that the AWS CLI adds for S3; they are not operations of the API."""


def aws_commands(page: Path) -> list[str]:
    """Return the commands in a page's code, in lines and in blocks."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"(?:^|`)(aws [a-z0-9-]+ [^`\n]+)", text, re.MULTILINE)


COMMANDS = sorted({command for page in PAGES for command in aws_commands(page)})


@cache
def operations(service: str) -> dict[str, OperationModel]:
    name = "s3" if service == "s3api" else service
    model = botocore.session.get_session().get_service_model(name)
    found = (model.operation_model(name) for name in model.operation_names)
    return {xform_name(each.name).replace("_", "-"): each for each in found}


def unknown_in(command: str) -> list[str]:
    """Return the parts of a command that the service does not have."""
    _, service, operation, *rest = shlex.split(command)
    if service == "s3":
        return [] if operation in OWN_OF_S3 else [operation]
    model = operations(service).get(operation)
    if model is None:
        return [operation]
    members = model.input_shape.members if model.input_shape is not None else {}
    known = {xform_name(name).replace("_", "-") for name in members} | EVERYWHERE
    options = [part.removeprefix("--") for part in rest if part.startswith("--")]
    return [each for each in options if not {each, each.removeprefix("no-")} & known]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_aws_command_names_what_the_service_has(command: str) -> None:
    assert unknown_in(command) == []


def test_a_wrong_command_is_found() -> None:
    assert unknown_in("aws lambda get-accounts") == ["get-accounts"]
    assert unknown_in("aws lambda get-function --name a") == ["name"]
    assert unknown_in("aws s3 copy a b") == ["copy"]
    assert len(COMMANDS) > MOST_STEPS / 2


def test_the_first_deployment_has_few_steps_that_are_there() -> None:
    lines = FIRST_DEPLOYMENT.read_text(encoding="utf-8").splitlines()
    steps = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert len(steps) == len([line for line in lines if line.startswith("|")]) - 2 <= MOST_STEPS
    for step in steps:
        if not step.startswith("aws "):
            program, *words = shlex.split(step)
            assert program == ".venv/bin/vitrine"
            assert _has(words), step
    assert not _has(["files", "mov", "a"])
    assert not _has(["nothing"])
    assert not _has(["search", "--no-option"])


def _has(words: list[str]) -> bool:
    """Return whether the command line has this command, with these options."""
    options = [word for word in words if word.startswith("--")]
    group = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200"})
    length = 2 if "COMMAND [ARGS]" in group.stdout else 1
    shown = CliRunner().invoke(app, [*words[:length], "--help"], env={"COLUMNS": "200"})
    return shown.exit_code == 0 and all(option in shown.stdout for option in options)


def test_the_first_deployment_names_assets_and_files_of_the_samples() -> None:
    steps = FIRST_DEPLOYMENT.read_text(encoding="utf-8")
    named = re.findall(
        r"\.venv/bin/vitrine (?:files \w+|archive) first ([\w-]+)(?: (/\S+))?", steps
    )
    moved = {new for _, new in re.findall(r"files move first [\w-]+ (/\S+) (/[^\s`]+)", steps)}
    assert len(named) >= 4
    missing = [
        asset + path
        for asset, path in named
        if path not in moved and not (ROOT / "samples/library" / asset / path.strip("/")).exists()
    ]
    assert missing == []
