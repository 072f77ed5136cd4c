"""The first start: imports the samples, describes them, and shows three commands to try.

The import is the ordinary client in a process of its own, so the runtime does not depend on its
format. The same applies to the program in `samples` that gives them tags, metadata and links.
"""

import shlex
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

from local.errors import LocalError
from local.state import REPOSITORY, StateFolder

_MARK = "first-look.json"
_QUERY = "gear"
_DESCRIBE = "describe.py"
_PATIENCE = 3600  # seconds until the samples are inspected, on a busy machine


def vitrine(*arguments: str | Path) -> list[str]:
    """Return the command line of the client, in the environment of this process."""
    return [sys.executable, "-m", "vitrine", *map(str, arguments)]


def import_samples(state: StateFolder, samples: Path, say: Callable[[str], None]) -> None:
    """Import the samples unless that was done before, then print the commands to try.

    Raises:
        LocalError: a step fails; its output has been printed.
    """
    if not state.read(_MARK, dict[str, str]()):
        count = sum(path.is_file() for path in samples.rglob("*"))
        say(f"importing {count} files from {_shown(samples)}")
        _run("importing them", vitrine("import", samples, "--endpoint", state.endpoint), say)
        describe = samples.parent / _DESCRIBE
        if describe.exists():
            say("adding descriptions, tags, metadata and links")
            program = [sys.executable, str(describe), "--endpoint", str(state.endpoint)]
            _run("describing them", program, say)
        say("waiting until the files are inspected and can be found")
        patience = ("--timeout", str(_PATIENCE))
        _run("waiting for them", vitrine("wait", *patience, "--endpoint", state.endpoint), say)
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


def _run(step: str, command: list[str], say: Callable[[str], None]) -> None:
    """Run a command, and print each line of its progress as it appears.

    Raises:
        LocalError: it fails; the message names the step and contains its last line.
    """
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as running:
        lines: deque[str] = deque(maxlen=1)
        for line in running.stderr or ():
            lines.append(line.rstrip())
            say(f"  {lines[-1]}")
    if running.returncode:
        raise LocalError(f"{step} failed: {lines[-1].strip() if lines else running.returncode}")


def _shown(path: Path) -> str:
    """Return a path as a user types it in the repository."""
    return str(path.relative_to(REPOSITORY)) if path.is_relative_to(REPOSITORY) else str(path)
