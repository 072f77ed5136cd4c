"""Which Go is taken, and when fsync is skipped, on made-up machines."""

from pathlib import Path

import pytest

from local.engines import Options
from local.engines.eatmydata import preload
from local.engines.go import find_go


def fake_go(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    command = folder / "go"
    command.write_text(f"#!/bin/sh\necho go version {version} linux/amd64\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return command


def test_a_new_enough_go_of_the_machine_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = fake_go(tmp_path, "go1.30.1", monkeypatch)
    assert find_go().command == command


def test_an_old_go_is_passed_over_for_the_packaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_go(tmp_path, "go1.9.7", monkeypatch)
    found = find_go()
    assert found.command != old
    assert found.command == Path(found.environment["GOROOT"]) / "bin" / "go"


def test_libeatmydata_is_preloaded_where_it_is_installed(tmp_path: Path) -> None:
    assert preload(tmp_path) == {}
    library = tmp_path / "usr/lib/x86_64-linux-gnu/libeatmydata.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert preload(tmp_path) == {"LD_PRELOAD": str(library)}


@pytest.mark.parametrize("key", ["", "with-hyphen", "ä"])
def test_an_access_key_that_an_engine_would_refuse_is_refused_at_once(key: str) -> None:
    with pytest.raises(ValueError, match="access_key"):
        Options(access_key=key)
