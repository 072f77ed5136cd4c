"""Common properties of all commands."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main
from vitrine.cli.app import app
from vitrine.cli.wording import PARAMETERS

ROOT: Any = typer.main.get_command(app)


def commands(group: Any = ROOT, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in cast("dict[str, Any]", group.commands).items():
        if hasattr(command, "commands"):
            yield from commands(command, (*above, name))
        else:
            yield " ".join((*above, name)), command


COMMANDS = dict(commands())


def options(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_help_text_prints_json_and_accepts_a_folder(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    assert {"--json", "--api", "--key", "--endpoint"} <= options(command)


def test_options_that_commands_of_several_nouns_share_name_none_of_them() -> None:
    users: dict[tuple[str, str], set[str]] = {}
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if parameter.param_type_name == "option" and "--key" not in parameter.opts:
                option = parameter.opts[0], parameter.help or ""
                users.setdefault(option, set()).add(name.split(" ")[0])
    groups = {name.split(" ")[0] for name in COMMANDS if " " in name}
    nouns = "|".join(
        {group.replace("-", " ").removesuffix("s") for group in groups - {"jobs", "audit"}}
    )
    wrong = [
        f"{option}: {text} ({', '.join(sorted(names))})"
        for (option, text), names in users.items()
        if len(names & groups) > 1 and re.search(rf"\b(the|an?) ({nouns})\b", text)
    ]
    assert not wrong, "\n".join(wrong)


def test_fields_are_named_by_parameters_that_commands_have() -> None:
    has = {parameter.name for command in COMMANDS.values() for parameter in command.params}
    assert {name for names in PARAMETERS.values() for name in names} - has == set()
    document = (Path(__file__).parents[3] / "docs/reference/openapi.json").read_text("utf-8")
    assert {field for field in PARAMETERS if f'"{field}"' not in document} == set()
    confirming = set(re.findall('"(confirm[A-Z]\\w+)"', document))
    assert {field for field, names in PARAMETERS.items() if names == ["yes"]} == confirming


@pytest.mark.parametrize("verb", ["delete", "delete-preview", "delete-auxiliary", "reset-password"])
def test_irreversible_commands_require_confirmation(verb: str) -> None:
    commands = {name for name in COMMANDS if name.rpartition(" ")[2] == verb}
    assert commands
    assert {name for name in commands if "--yes" not in options(COMMANDS[name])} == set()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("vitrine acc", {"access"}),
        ("vitrine access ", {"constraints", "explain", "template"}),
        ("vitrine search --fa", {"--facet", "--facets"}),
    ],
)
def test_words_are_completed(line: str, expected: set[str]) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = subprocess.run(
        [Path(sys.executable).with_name("vitrine")],
        env={"_VITRINE_COMPLETE": "complete_bash", **words},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == expected


def test_the_whole_command_has_a_completion_and_one_line_of_help_for_each() -> None:
    assert {"--install-completion", "--show-completion"} <= options(ROOT)
    # 80 columns, without the frame and the longest name, `metadata-schemas`, with its spaces.
    long = [
        name for name, command in ROOT.commands.items() if len(command.help.split("\n\n")[0]) > 58
    ]
    assert not long


def without_a_server(home: Path, stdout: int) -> tuple[int, str]:
    """The exit code and the standard error of a command that sends no request."""
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("vitrine"), "uploads", "list", "--here", "--json"),
            *("--api", "http://127.0.0.1:1", "--key", "vams_x"),
        ],
        env={"HOME": str(home)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_a_closed_output_is_no_error_and_a_full_one_is(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert without_a_server(tmp_path, writing) == (1, "")
    finally:
        os.close(writing)
    with Path("/dev/full").open("w") as full:
        code, text = without_a_server(tmp_path, full.fileno())
    assert code == 1
    assert json.loads(text)["error"]["message"].endswith("No space left on device")
