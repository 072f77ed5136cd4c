"""Installs the packages that functions import: their dependency layer, and the runtime's own.

Both are installed for the running Python from pinned requirements with hashes. Each folder is named
after the digest of its requirements, so a changed lock file results in a new folder.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from filelock import FileLock
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from local.errors import LocalError

_RUNTIME_PACKAGES = ("awslambdaric", "boto3")


def install_layer(requirements: Path, folder: Path, progress: Callable[[str], None]) -> Path:
    """Return the folder with the packages that `requirements` pins; install them if needed.

    Raises:
        LocalError: the installation fails; with its last line.
    """
    left_out = requirements.with_name("left-out.txt")
    patterns = left_out.read_text(encoding="utf-8") if left_out.exists() else ""
    return _install(requirements.read_text(encoding="utf-8"), folder, progress, patterns)


def install_runtime(lock: Path, folder: Path, progress: Callable[[str], None]) -> Path:
    """Return the folder with the packages of AWS's Python runtime: boto3 and the runtime client.

    The versions and hashes are those of the repository's lock file.

    Raises:
        LocalError: a package is missing in the lock file, or the installation fails.
    """
    pinned = _pins(lock.read_text(encoding="utf-8"))
    wanted = _closure(_RUNTIME_PACKAGES)
    missing = sorted(wanted - pinned.keys())
    if missing:
        raise LocalError(f"{lock} does not pin {', '.join(missing)}")
    return _install("".join(pinned[name] for name in sorted(wanted)), folder, progress)


def _pins(lock: str) -> dict[str, str]:
    """Split a lock file into its entries (a pin with its hashes) by canonical name."""
    entries: dict[str, str] = {}
    name = ""
    for line in lock.splitlines(keepends=True):
        if line[:1].isalnum():
            name = canonicalize_name(line.split("==", 1)[0].strip())
            entries[name] = line
        elif line.lstrip().startswith("--hash") and name:
            entries[name] += line
    return entries


def _closure(names: tuple[str, ...]) -> set[str]:
    packages: set[str] = set()
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in packages:
            continue
        packages.add(name)
        for text in metadata.requires(name) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return packages


def _install(
    requirements: str, folder: Path, progress: Callable[[str], None], left_out: str = ""
) -> Path:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(f"{version}\n{requirements}{left_out}".encode()).hexdigest()[:16]
    target = folder / digest
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{digest}.lock"):
        if not target.is_dir():
            # the layers of functions have different versions of it
            count = len(_pins(requirements))
            progress(f"installing the functions' {folder.name} packages ({count})")
            _install_into(requirements, target, left_out.split())
    return target


def _install_into(requirements: str, target: Path, left_out: Sequence[str]) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        listed = scratch / "requirements.txt"
        listed.write_text(requirements, encoding="utf-8")
        packages = scratch / "packages"
        command = [
            *(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable),
            *("--target", str(packages), "--require-hashes", "--compile-bytecode"),
            *("--requirement", str(listed)),
        ]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=dict(os.environ)
        )
        if done.returncode != 0:
            raise LocalError(f"cannot install {target.parent.name}: {done.stderr.strip()}")
        for pattern in left_out:  # one after another: they may name a folder and what is in it
            for path in list(packages.glob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        packages.replace(target)
    finally:
        shutil.rmtree(scratch)
