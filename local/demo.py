"""The demo: a fresh runtime, a folder imported, every file found by search."""

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from local.first_look import vitrine

_FAILED_TO_START = 1


def demo(folder: Path, up: Callable[[Path], list[str]], down: Callable[[Path], list[str]]) -> int:
    """Run the client's demo against a runtime with a temporary state; return its exit code.

    `up` and `down` are the command lines that start and stop a runtime on a state folder. The
    client's output is passed on; the output of the start goes to standard error.
    """
    with tempfile.TemporaryDirectory(prefix="vitrine-demo-") as name:
        state = Path(name)
        try:
            if subprocess.run(up(state), stdout=2, check=False).returncode:
                return _FAILED_TO_START
            command = vitrine("demo", folder, "--endpoint", state / "endpoint.json")
            return subprocess.run(command, check=False).returncode
        finally:
            subprocess.run(down(state), stdout=subprocess.DEVNULL, check=False)
