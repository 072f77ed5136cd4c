"""The packages that are installed beside the functions."""

from pathlib import Path

import pytest

from local.errors import LocalError
from local.layers import install_layer, install_runtime


def test_a_lock_without_the_runtimes_packages_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text("boto3==1.0 \\\n    --hash=sha256:00\n", encoding="utf-8")

    with pytest.raises(LocalError, match="does not pin awslambdaric, botocore"):
        install_runtime(lock, tmp_path / "runtime", lambda _: None)


def test_a_failed_installation_leaves_nothing_behind(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("not a requirement ==\n", encoding="utf-8")

    with pytest.raises(LocalError, match="cannot install layer"):
        install_layer(requirements, tmp_path / "layer", lambda _: None)

    assert {entry.suffix for entry in (tmp_path / "layer").iterdir()} == {".lock"}


def test_what_is_installed_is_not_installed_again(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("", encoding="utf-8")
    lines: list[str] = []

    first = install_layer(requirements, tmp_path / "layer", lines.append)
    second = install_layer(requirements, tmp_path / "layer", lines.append)

    assert first == second
    assert len(lines) == 1
