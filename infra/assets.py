"""The folders of functions: our code, and the layers of its dependencies.

They are not uploaded here: CDK copies a folder into the assembly under the hash of its content. A
function cannot write to the folder of its code, so modules that are not compiled here are compiled
at each cold start. Bytecode requires the deployed version of Python, so it is created only if that
version is installed.
"""

import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from backend.spec.functions.model import Packages
from infra.settings import ROOT

REQUIREMENTS = ROOT / "backend" / "requirements.txt"
LAYERS = ROOT / "build" / "layers"
# The platform of wheels: Lambda's Python 3.13 on arm64 has glibc 2.34.
PLATFORM = "aarch64-manylinux_2_31"
PYTHON = "3.13"
MIB = 1024**2
# Lambda's limit for a function with its layers, unzipped. Built for Lambda and not compiled, the
# layer of all functions has 31 MB, `inspect` 142, `inspect-cad` 183, `inspect-ifc` 152,
# `inspect-usd` 200 and `inspect-media` 178. With bytecode and the code, a function with that of USD
# has 248 MiB.
MOST_BYTES = 250 * MIB
# A segment in the header of an ELF file, and the type of those that are loaded.
_SEGMENT, _LOADED = struct.Struct("<IIQQQQQQ"), 1


class LayerBuildError(Exception):
    """The dependency layer could not be built; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The folder of a dependency layer, and its hash."""

    folder: Path
    hash: str


@dataclass(frozen=True, slots=True)
class Folders:
    """The folder of the code, the layer of all functions, and further layers by name.

    `compiled` is true if they contain bytecode.
    """

    code: Path
    layer: Path
    layer_hash: str
    compiled: bool = False
    packages: Mapping[Packages, Layer] = field(default_factory=dict["Packages", "Layer"])


def prepare(target: Path, *, bundle: bool) -> Folders:
    """Create both folders below `target`; the layer is built only with `bundle`.

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
    made = Folders(
        code=code,
        layer=build_layer(python) if bundle else copy_requirements(layer),
        layer_hash=layer_hash(bundle=bundle, compiled=python is not None),
        compiled=python is not None,
        packages={name: _packages(name, target, python, bundle) for name in get_args(Packages)},
    )
    check_sizes(made)
    return made


def check_sizes(folders: Folders) -> None:
    """Check Lambda's size limits before anything is uploaded.

    Raises:
        LayerBuildError: code and layers of a function are too large together.
    """
    common = size_of(folders.code) + size_of(folders.layer)
    for name, layer in folders.packages.items():
        size = common + size_of(layer.folder)
        if size > MOST_BYTES:
            raise LayerBuildError(
                f"bundle: functions with the packages of {name} have {size / MIB:.0f} MiB "
                f"unzipped, Lambda takes {MOST_BYTES / MIB:.0f}"
            )


def size_of(folder: Path) -> int:
    """Return the size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def requirements_of(name: Packages) -> Path:
    """Return the pinned requirements of a dependency layer that only some functions have."""
    return REQUIREMENTS.with_name(f"requirements-{name}.txt")


def left_out_of(requirements: Path) -> Path:
    """Return the path of the list of what a layer leaves out of its packages; few have one."""
    return requirements.with_name(requirements.name.replace("requirements", "left-out", 1))


def leave_out(packages: Path, requirements: Path) -> None:
    """Remove what the list of these requirements names: patterns of paths, one a line."""
    patterns = left_out_of(requirements)
    for pattern in patterns.read_text().split() if patterns.exists() else ():
        for path in packages.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _packages(name: Packages, target: Path, python: Path | None, bundle: bool) -> Layer:
    requirements = requirements_of(name)
    digest = layer_hash(bundle=bundle, compiled=python is not None, requirements=requirements)
    if bundle:
        return Layer(build_layer(python, requirements), digest)
    folder = target / name
    folder.mkdir()
    return Layer(copy_requirements(folder, requirements), digest)


def find_python() -> Path | None:
    """Return the Python of the deployed version, if it is installed; none is downloaded."""
    done = subprocess.run(
        [_uv(), "python", "find", "--no-project", "--system", PYTHON],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"},
    )
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def compile_folder(folder: Path, python: Path) -> None:
    """Create the bytecode of all modules in the folder.

    It is used without checking the times of files, which an upload does not preserve.

    Raises:
        LayerBuildError: a module is not valid in this version of Python.
    """
    command = [str(python), "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    command += ["-s", str(folder), str(folder)]  # deployed files contain no path of this machine
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LayerBuildError(f"bundle: {folder.name} was not compiled: {done.stdout.strip()}")


def copy_code(target: Path, source: Path = ROOT / "backend") -> Path:
    """Copy the package `backend` to `target`: Python files and JSON data only."""
    for path in sorted(file for kind in ("*.py", "*.json") for file in source.rglob(kind)):
        copy = target / "backend" / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return target


def copy_requirements(target: Path, requirements: Path = REQUIREMENTS) -> Path:
    """Copy only the pinned requirements to `target`: the local runtime installs them itself."""
    copied = target / "requirements.txt"
    shutil.copyfile(requirements, copied)
    if (left_out := left_out_of(requirements)).exists():
        shutil.copyfile(left_out, left_out_of(copied))
    return target


def layer_hash(*, bundle: bool, compiled: bool = False, requirements: Path = REQUIREMENTS) -> str:
    """Return the hash of everything that determines the content of the layer."""
    platform = f"{PLATFORM} {PYTHON}" if bundle else "requirements only"
    platform += " compiled" if compiled else ""
    facts = f"{platform}\n".encode() + requirements.read_bytes()
    if (left_out := left_out_of(requirements)).exists():
        facts += left_out.read_bytes()
    return hashlib.sha256(facts).hexdigest()


def build_layer(python: Path | None = None, requirements: Path = REQUIREMENTS) -> Path:
    """Return the folder of the dependency layer for Lambda, built once for each lock.

    With `python` it contains bytecode too.

    Raises:
        LayerBuildError: the packages could not be installed.
    """
    target = LAYERS / layer_hash(
        bundle=True, compiled=python is not None, requirements=requirements
    )
    if target.is_dir():
        return target
    LAYERS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=LAYERS) as folder:
        built = Path(folder) / "layer"
        _install(built / "python", requirements)
        if python is not None:
            compile_folder(built, python)
        built.rename(target)
    return target


def _install(target: Path, requirements: Path) -> None:
    command = [_uv(), "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--python-platform", PLATFORM, "--python-version", PYTHON]
    command += ["--only-binary", ":all:", "--target", str(target), "-r", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LayerBuildError(f"bundle: the dependency layer failed: {done.stderr.strip()}")
    leave_out(target, requirements)
    if requirements == requirements_of("inspect-usd"):
        for library in target.rglob("*.so*"):
            library.write_bytes(loaded_part(library.read_bytes()))


def loaded_part(library: bytes) -> bytes:
    """Return a shared library of ELF without what is not loaded: symbols for debuggers.

    Its wheel has them, a fifth of its bytes. The platform's own `strip` reads no other platform,
    and what LIEF 1.0 writes is not smaller.
    """
    (headers,) = struct.unpack_from("<Q", library, 32)
    size, count = struct.unpack_from("<HH", library, 54)
    segments = [list(_SEGMENT.unpack_from(library, headers + n * size)) for n in range(count)]
    part, moves = bytearray(), list[tuple[range, int]]()
    for kind, _, start, _, _, length, _, alignment in sorted(segments, key=lambda row: row[2]):
        if kind == _LOADED:
            part += bytes((start - len(part)) % alignment)
            moves.append((range(start, start + length), len(part) - start))
            part += library[start : start + length]

    def moved(offset: int) -> int:
        return offset + next((by for place, by in moves if offset in place), 0)

    struct.pack_into("<QQ", part, 32, moved(headers), 0)  # no table of sections
    struct.pack_into("<HH", part, 60, 0, 0)
    for number, segment in enumerate(segments):
        segment[2] = moved(segment[2])
        _SEGMENT.pack_into(part, moved(headers) + number * size, *segment)
    return bytes(part)


def _uv() -> str:
    uv = shutil.which("uv", path=str(ROOT / ".venv" / "bin")) or shutil.which("uv")
    if uv is None:
        raise LayerBuildError("bundle: the command `uv` is not installed")
    return uv
