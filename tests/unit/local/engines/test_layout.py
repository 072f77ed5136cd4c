"""A folder of the tools is whole or not there."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local.engines import EngineError
from local.engines.layout import whole_folder


def names(folder: Path) -> set[str]:
    """Names in a folder, lock files aside."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def test_a_folder_is_built_once(tmp_path: Path) -> None:
    built: list[Path] = []

    def build(folder: Path) -> None:
        built.append(folder)
        (folder / "file").write_text("x")

    for _ in range(2):
        assert (whole_folder(tmp_path, "thing-1", build) / "file").read_text() == "x"
    assert len(built) == 1
    assert names(tmp_path) == {"thing-1"}


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise EngineError("no network")

    with pytest.raises(EngineError, match="no network"):
        whole_folder(tmp_path, "thing-1", fail)
    assert names(tmp_path) == set()


def test_two_at_once_build_once(tmp_path: Path) -> None:
    built: list[Path] = []
    begun, go_on = threading.Event(), threading.Event()

    def build(folder: Path) -> None:
        built.append(folder)
        begun.set()
        assert go_on.wait(10)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(whole_folder, tmp_path, "thing-1", build)
        assert begun.wait(10)
        second = pool.submit(whole_folder, tmp_path, "thing-1", build)
        go_on.set()
        assert first.result(10) == second.result(10) == tmp_path / "thing-1"
    assert len(built) == 1
