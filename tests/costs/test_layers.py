"""The dependency layers of functions, as deployed, are as small as designed.

The wheels are those of Lambda's platform, of which pip or uv downloads some 100 MB once.
"""

import struct
import subprocess
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple, get_args

import lazrs
import pytest

from backend.spec.functions.model import Packages
from infra import assets
from infra.constructs.function import ARCHITECTURE, RUNTIME
from infra.settings import ROOT

MEGABYTE = 1000**2
MOST_MEGABYTES = {
    "common": 40,
    "inspect": 150,
    "inspect-cad": 210,
    "inspect-ifc": 170,
    "inspect-usd": 205,
    "inspect-media": 180,
}
"""Unzipped and not compiled. Functions with `inspect-cad` also have the common layer and the code,
and Lambda accepts 250 MiB."""
COMPILED = {
    "inspect": "numpy",
    "inspect-cad": "cascadio",
    "inspect-ifc": "ifcopenshell",
    "inspect-usd": "pxr",
    "inspect-media": "cv2",
}
"""A package of each layer that is compiled: without one the test of the platform shows nothing."""
AARCH64 = 183  # the machine in the header of an ELF file
GLIBC = (2, 34)  # of Amazon Linux 2023, on which Lambda's Python 3.13 runs


class Tag(NamedTuple):
    """The platform that a wheel was built for."""

    interpreter: str
    abi: str
    platform: str


@pytest.fixture(scope="module")
def layers() -> Mapping[str, Path]:
    return {
        "common": assets.build_layer(),
        **{
            name: assets.build_layer(requirements=assets.requirements_of(name))
            for name in get_args(Packages)
        },
    }


@pytest.fixture(scope="module")
def megabytes(layers: Mapping[str, Path]) -> Mapping[str, float]:
    return {name: assets.size_of(folder) / MEGABYTE for name, folder in layers.items()}


@pytest.mark.parametrize("name", MOST_MEGABYTES)
def test_a_layer_has_its_size(name: str, megabytes: Mapping[str, float]) -> None:
    assert megabytes[name] <= MOST_MEGABYTES[name], megabytes
    # A layer that lacks a library would be small, too.
    assert megabytes[name] >= 0.6 * MOST_MEGABYTES[name], megabytes


def test_each_function_has_what_lambda_takes(
    layers: Mapping[str, Path], megabytes: Mapping[str, float]
) -> None:
    """With the code and all bytecode: measured, it had up to 1.4 times the bytes of its source."""
    code = 2.5 * _source_bytes(ROOT / "backend")
    for name in get_args(Packages):
        unzipped = (megabytes["common"] + megabytes[name]) * MEGABYTE
        bytecode = 1.5 * (_source_bytes(layers["common"]) + _source_bytes(layers[name]))
        assert unzipped + bytecode + code <= assets.MOST_BYTES


def _source_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.py"))


def test_layers_are_for_the_deployed_architecture_and_python() -> None:
    assert assets.PLATFORM.startswith("aarch64") == (ARCHITECTURE.name == "arm64")
    assert RUNTIME.name == f"python{assets.PYTHON}"


@pytest.mark.parametrize("name", MOST_MEGABYTES)
def test_wheels_run_on_lambda(name: str, layers: Mapping[str, Path]) -> None:
    rglob = sorted(layers[name].rglob("*.dist-info/WHEEL"))
    foreign = {item.parent.name: _tags(item) for item in rglob if not any(map(_runs, _tags(item)))}
    assert foreign == {}
    assert len(rglob) > 2, "without wheels this shows nothing"


@pytest.mark.parametrize("name", COMPILED)
def test_libraries_are_of_lambdas_processor(name: str, layers: Mapping[str, Path]) -> None:
    libraries = [path for path in layers[name].rglob("*.so*") if path.is_file()]
    assert any(COMPILED[name] in library.parts for library in libraries)
    assert {
        library.name: _machine(library) for library in libraries if _machine(library) != AARCH64
    } == {}


def test_a_library_without_symbols_works(tmp_path: Path) -> None:
    (library,) = Path(lazrs.__file__).parent.glob("lazrs.*.so")
    whole, copy = library.read_bytes(), tmp_path / library.name
    copy.write_bytes(assets.loaded_part(whole))
    assert copy.stat().st_size < 0.8 * len(whole)
    code = "import sys; sys.path.insert(0, sys.argv[1])\n"
    code += "import lazrs; assert lazrs.__file__.startswith(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def _tags(wheel: Path) -> list[Tag]:
    lines = wheel.read_text().splitlines()
    written = [line.removeprefix("Tag:").strip() for line in lines if line.startswith("Tag:")]
    # A tag may be several: `py2.py3-none-any`.
    parts = [[part.split(".") for part in tag.split("-")] for tag in written]
    return [Tag(*item) for part in parts for item in product(*part)]


def _runs(tag: Tag) -> bool:
    """Whether Lambda's Python of the deployed version can load a wheel of the tag."""
    version = "cp" + assets.PYTHON.replace(".", "")
    if tag.platform != "any":
        kind, *numbers = tag.platform.removesuffix("_aarch64").split("_")
        if kind in ("manylinux2014", "manylinux2010") and not numbers:
            numbers = ["2", "17"]
        if not tag.platform.endswith("_aarch64") or not kind.startswith("manylinux"):
            return False
        if tuple(map(int, numbers)) > GLIBC:
            return False
    if tag.abi == "abi3":  # of this version of Python or an earlier one
        return int(tag.interpreter.removeprefix("cp3")) <= int(assets.PYTHON.split(".")[1])
    return tag.interpreter in (version, "py3") and tag.abi in (version, "none")


def _machine(library: Path) -> int:
    with library.open("rb") as file:
        return int(struct.unpack_from("<H", file.read(20), 18)[0])
