"""The pins of the backend, and the folders of functions."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra import assets
from infra.assets import LayerBuildError
from tests.infra.templates import ROOT

PIN = re.compile(r"^([a-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE | re.IGNORECASE)
BACKEND_REQUIREMENTS = ROOT / "backend" / "requirements.txt"


def _pins(path: Path) -> dict[str, str]:
    return dict(PIN.findall(path.read_text()))


def test_the_backend_runs_the_versions_that_developers_have() -> None:
    backend, everything = _pins(BACKEND_REQUIREMENTS), _pins(ROOT / "requirements.txt")
    assert {"pydantic", "opensearch-py", "aws-lambda-powertools"} <= set(backend)
    assert {name: everything[name] for name in backend} == backend


def test_the_lambda_runtimes_own_packages_are_not_in_the_layer() -> None:
    assert not {"boto3", "botocore", "awslambdaric"} & set(_pins(BACKEND_REQUIREMENTS))


def test_every_pin_of_the_backend_has_a_hash() -> None:
    blocks = re.split(r"\n(?=\S)", BACKEND_REQUIREMENTS.read_text())
    for block in blocks:
        if PIN.match(block):
            assert "--hash=sha256:" in block, block


def test_only_python_files_and_data_are_copied(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in (
        "a/data.json",
        "__init__.py",
        "a/b.py",
        "a/__pycache__/b.pyc",
        "requirements.txt",
        "a/.env",
    ):
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    copy = assets.copy_code(tmp_path / "copy", source)
    copied = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert copied == {"backend/__init__.py", "backend/a/b.py", "backend/a/data.json"}
    assert (copy / "backend" / "a" / "b.py").read_text() == "a/b.py"


def test_the_layer_goes_by_another_name_when_it_is_built() -> None:
    assert assets.layer_hash(bundle=True) != assets.layer_hash(bundle=False)


def test_a_layer_that_fails_has_a_reason_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("pydantic==2.0.0\n")  # no hash
    monkeypatch.setattr(assets, "LAYERS", tmp_path / "layers")
    with pytest.raises(LayerBuildError, match="hash"):
        assets.build_layer(requirements=requirements)
    assert list((tmp_path / "layers").iterdir()) == []


def test_a_layer_that_was_built_is_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "LAYERS", tmp_path)
    built = tmp_path / assets.layer_hash(bundle=True)
    built.mkdir()
    monkeypatch.setattr(assets, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", "")  # no uv
    assert assets.build_layer() == built


def test_a_function_that_lambda_would_refuse_for_its_size_is_not_bundled(tmp_path: Path) -> None:
    code, layer, packages = (tmp_path / name for name in ("code", "layer", "packages"))
    for folder, megabytes in ((code, 10), (layer, 40), (packages, 200)):
        folder.mkdir()
        with (folder / "library.so").open("wb") as file:
            file.truncate(megabytes * assets.MIB)  # uses no space on the disk
    folders = assets.Folders(
        code, layer, "hash", packages={"inspect": assets.Layer(packages, "other")}
    )
    assets.check_sizes(folders)
    (packages / "one more").write_bytes(b"1")
    with pytest.raises(LayerBuildError, match="inspect have 250 MiB"):
        assets.check_sizes(folders)


def test_what_is_compiled_runs_without_its_source_being_looked_at(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("print('as compiled', __file__)\n")
    assets.compile_folder(tmp_path, Path(sys.executable))
    (bytecode,) = (tmp_path / "__pycache__").iterdir()
    assert str(tmp_path).encode() not in bytecode.read_bytes()
    module.write_text("print('changed')\n")
    ran = subprocess.run(
        [sys.executable, "-c", "import module"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("as compiled")


def test_code_that_the_version_cannot_take_stops_the_synthesis(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("def broken(:\n")
    with pytest.raises(LayerBuildError, match="module"):
        assets.compile_folder(tmp_path, Path(sys.executable))


def test_a_python_is_found_or_reported_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "PYTHON", "3.99")
    assert assets.find_python() is None


def test_a_layer_with_bytecode_goes_by_another_name() -> None:
    names = {assets.layer_hash(bundle=True, compiled=compiled) for compiled in (True, False)}
    assert len(names) == 2
