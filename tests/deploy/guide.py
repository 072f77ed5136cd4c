"""The command lines of the page on deploying: tests may run only commands of this page."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "deploying.md"
STAGE = "prod"
"""The stage that the page's commands name."""
_CODE = re.compile(
    r"^(?=(?:make|aws) )(.+)$|`((?:make|aws) [^`\n]+)`|`(ARGS=\"[^`\n]+\")`", re.MULTILINE
)


def lines() -> list[str]:
    """All commands of the page, and the options of `make` that it names, in their order."""
    text = PAGE.read_text(encoding="utf-8")
    result = ("".join(groups).strip() for groups in _CODE.findall(text))
    return list(dict.fromkeys(result))


def line(beginning: str, *, containing: str = "") -> str:
    """The only command of the page that begins so, and contains a text."""
    result = [item for item in lines() if item.startswith(beginning) and containing in item]
    assert len(result) == 1, f"{PAGE.name} has {len(result)} commands {beginning!r}: {result}"
    return result[0]


def exactly(command: str) -> str:
    """The command, if the page has it."""
    assert command in lines(), f"{PAGE.name} does not have the command {command}"
    return command


def option(text: str) -> str:
    """An option for the CDK command that the page names as `ARGS="..."`."""
    named = line("ARGS=", containing=text)
    return shlex.split(named)[0].removeprefix("ARGS=")
