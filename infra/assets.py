"""The two folders that functions are made of: our code, and the layer of its dependencies.

Not the upload of them: CDK copies a folder into the assembly under the hash of its content.

A function cannot write where its code lies, so what is not compiled here is compiled at each of its
cold starts. Bytecode is of one version of Python: it is made where that one is installed.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from infra.settings import ROOT

REQUIREMENTS = ROOT / "backend" / "requirements.txt"
LAYERS = ROOT / "build" / "layers"
PLATFORM = "aarch64-manylinux2014"
PYTHON = "3.13"


class LayerBuildError(Exception):
    """The dependency layer could not be built; the message says why."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where both folders lie, the hash that the layer goes by, and whether they are compiled."""

    code: Path
    layer: Path
    layer_hash: str
    compiled: bool = False


def prepare(target: Path, *, bundle: bool) -> Folders:
    """Make both folders below `target`; the layer is built only when `bundle` says so.

    Raises:
        LayerBuildError: the layer could not be built.
    """
    code, layer = target / "code", target / "layer"
    code.mkdir()
    layer.mkdir()
    python = find_python() if bundle else None
    copy_code(code)
    if python is not None:
        compile_folder(code, python)
    return Folders(
        code=code,
        layer=build_layer(python) if bundle else copy_requirements(layer),
        layer_hash=layer_hash(bundle=bundle, compiled=python is not None),
        compiled=python is not None,
    )


def find_python() -> Path | None:
    """The Python of the version that is deployed, where one is installed; none is fetched."""
    found = subprocess.run(
        [_uv(), "python", "find", "--no-project", "--system", PYTHON],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"},
    )
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def compile_folder(folder: Path, python: Path) -> None:
    """Put the bytecode of everything in the folder beside it.

    It is taken unchecked: the times of files do not outlive an upload.

    Raises:
        LayerBuildError: something is no Python of this version.
    """
    command = [str(python), "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    command += ["-s", str(folder), str(folder)]  # no path of this machine in what is deployed
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LayerBuildError(f"bundle: {folder.name} was not compiled: {done.stdout.strip()}")


def copy_code(target: Path, source: Path = ROOT / "backend") -> Path:
    """Copy the package `backend` into `target`: Python files, data as JSON, nothing else."""
    for path in sorted(each for kind in ("*.py", "*.json") for each in source.rglob(kind)):
        copy = target / "backend" / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return target


def copy_requirements(target: Path) -> Path:
    """Fill `target` with the pinned requirements only: the local runtime installs them itself."""
    shutil.copyfile(REQUIREMENTS, target / "requirements.txt")
    return target


def layer_hash(*, bundle: bool, compiled: bool = False) -> str:
    """What the content of the layer depends on."""
    platform = f"{PLATFORM} {PYTHON}" if bundle else "requirements only"
    platform += " compiled" if compiled else ""
    facts = f"{platform}\n".encode() + REQUIREMENTS.read_bytes()
    return hashlib.sha256(facts).hexdigest()


def build_layer(python: Path | None = None) -> Path:
    """The folder of the dependency layer for Lambda, built once for each lock.

    With `python` it holds bytecode too.

    Raises:
        LayerBuildError: the packages could not be installed.
    """
    target = LAYERS / layer_hash(bundle=True, compiled=python is not None)
    if target.is_dir():
        return target
    LAYERS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=LAYERS) as folder:
        built = Path(folder) / "layer"
        _install(built / "python")
        if python is not None:
            compile_folder(built, python)
        built.rename(target)
    return target


def _install(target: Path) -> None:
    command = [_uv(), "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--python-platform", PLATFORM, "--python-version", PYTHON]
    command += ["--only-binary", ":all:", "--target", str(target), "-r", str(REQUIREMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LayerBuildError(f"bundle: the dependency layer failed: {done.stderr.strip()}")


def _uv() -> str:
    uv = shutil.which("uv", path=str(ROOT / ".venv" / "bin")) or shutil.which("uv")
    if uv is None:
        raise LayerBuildError("bundle: the command `uv` is not installed")
    return uv
