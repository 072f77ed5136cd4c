"""Khronos' glTF validator, from npm, pinned with its hash in `benchmarks/validator`."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchmarks import node_tools

_SOURCE = Path(__file__).parent / "validator"
_INSTALLED = Path(__file__).parents[1] / "build" / "validator"


def errors_of(folder: Path) -> Mapping[str, int]:
    """Return the number of errors of each GLB of a folder, by its name.

    Raises:
        subprocess.CalledProcessError: npm or the validator failed.
    """
    node_tools.install(_SOURCE, _INSTALLED)
    shutil.copyfile(_SOURCE / "validate.mjs", _INSTALLED / "validate.mjs")
    command = [str(node_tools.node()), "validate.mjs", str(folder)]
    done = subprocess.run(
        command, cwd=_INSTALLED, capture_output=True, text=True, check=True, timeout=600
    )
    return json.loads(done.stdout)
