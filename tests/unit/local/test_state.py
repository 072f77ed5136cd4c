"""The state folder."""

import errno
import os
import stat
from pathlib import Path

import pytest

from local.errors import AlreadyRunningError, LocalError
from local.state import StateFolder


def test_files_are_replaced_whole_and_private(tmp_path: Path) -> None:
    state = StateFolder(tmp_path / "s")
    state.create()
    state.write("a.json", {"a": 1})
    state.write("a.json", {"a": 2})

    assert state.read("a.json", {"a": 0}) == {"a": 2}
    assert state.read("b.json", {"b": 0}) == {"b": 0}
    assert stat.S_IMODE((state.root / "a.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.root.stat().st_mode) == 0o700


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{", encoding="utf-8")

    with pytest.raises(LocalError, match=r"a\.json is damaged"):
        StateFolder(tmp_path).read("a.json", 0)


def test_a_folder_is_locked_for_one(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    lock = state.lock()
    with pytest.raises(AlreadyRunningError, match="already uses"):
        state.lock()
    lock.release()
    state.lock().release()


def test_emptying_keeps_tools_and_packages(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    state.create()
    for name in ("tools", "layer", "runtime", "data"):
        (tmp_path / name).mkdir()
    state.write("secrets.json", {})

    state.empty()

    assert {entry.name for entry in tmp_path.iterdir()} == {"tools", "layer", "runtime"}


def test_a_full_disk_is_reported_with_the_file_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = StateFolder(tmp_path)
    folder.write("secrets.json", {"kept": 1})
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match=r"No space left on device: '.*/secrets\.json'"):
        folder.write("secrets.json", {"kept": 2})
    assert folder.read("secrets.json", dict[str, int]()) == {"kept": 1}


def test_the_secret_key_of_the_engines_is_random_and_kept(tmp_path: Path) -> None:
    folders = [StateFolder(tmp_path / name) for name in "ab"]
    for state in folders:
        state.create()
    keys = [state.secret_key() for state in folders]

    assert len(set(keys)) == 2
    assert min(map(len, keys)) >= 32
    assert [state.secret_key() for state in folders] == keys
