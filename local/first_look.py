"""The first start: imports the samples, describes them, and shows three commands to try.

The import is the ordinary client in a process of its own; the runtime does not know its format. So
is the program beside the samples that gives them tags, metadata and links.
"""

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from local.errors import LocalError
from local.state import REPOSITORY, StateFolder

_MARK = "first-look.json"
_QUERY = "gear"
_DESCRIBE = "describe.py"


def vitrine(*arguments: str | Path) -> list[str]:
    """Return the command line of the client, in the environment that runs this."""
    return [sys.executable, "-m", "vitrine", *map(str, arguments)]


def show(state: StateFolder, samples: Path, say: Callable[[str], None]) -> None:
    """Import the samples unless that was done before, then print what to try.

    Raises:
        LocalError: the import fails; the message contains its output.
    """
    if not state.read(_MARK, dict[str, str]()):
        say(f"importing the samples from {_shown(samples)}")
        _run(vitrine("import", samples, "--endpoint", state.endpoint))
        describe = samples.parent / _DESCRIBE
        if describe.exists():
            _run([sys.executable, str(describe), "--endpoint", str(state.endpoint)])
        _run(vitrine("wait", "--endpoint", state.endpoint))
        state.write(_MARK, {"imported": str(samples)})
    say("try:")
    for line in _commands(state):
        say(f"  {line}")


def _commands(state: StateFolder) -> list[str]:
    program = _shown(Path(sys.executable).with_name("vitrine"))
    endpoint = f"--endpoint {shlex.quote(_shown(state.endpoint))}"
    return [
        f"{program} search {_QUERY} {endpoint}",
        f"{program} ls {endpoint}",
        f"{program} import DIR {endpoint}",
    ]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LocalError(
            f"the import of the samples failed: {(done.stderr or done.stdout).strip()}"
        )


def _shown(path: Path) -> str:
    """Return a path as typed in the repository."""
    return str(path.relative_to(REPOSITORY)) if path.is_relative_to(REPOSITORY) else str(path)
