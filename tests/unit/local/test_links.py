from pathlib import Path

import pytest

from local.errors import LocalError
from local.links import SECONDS, Links, new_link
from local.state import StateFolder


class Clock:
    def __init__(self, file_of: StateFolder) -> None:
        self._folder = file_of.root / "links"
        self.later = 0.0

    def __call__(self) -> float:
        newest = max((each.stat().st_mtime for each in self._folder.iterdir()), default=0.0)
        return newest + self.later


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path)


def test_a_link_works_once(state: StateFolder) -> None:
    links = Links(state)
    first, second = links.create(), links.create()

    assert links.use(first)
    assert not links.use(first)
    assert links.use(second)


def test_a_link_ends_after_ten_minutes_and_is_removed(state: StateFolder) -> None:
    clock = Clock(state)
    links = Links(state, clock)
    old = links.create()
    clock.later = SECONDS - 1
    assert links.use(old)

    old = links.create()
    clock.later = SECONDS
    assert not links.use(old)
    assert list((state.root / "links").iterdir()) == []


def test_no_other_text_is_a_link(state: StateFolder) -> None:
    links = Links(state)
    secret = links.create()
    name = next((state.root / "links").iterdir()).name
    wrong = ["", name, f"../links/{name}", secret + "x", "x" * 10_000, "\0", "\ud800"]

    assert [each for each in wrong if links.use(each)] == []
    assert links.use(secret)


def test_the_folder_of_links_holds_no_secret_and_is_the_owners(state: StateFolder) -> None:
    secret = Links(state).create()
    folder = state.root / "links"

    assert folder.stat().st_mode & 0o077 == 0
    assert all(secret not in each.name and not each.read_bytes() for each in folder.iterdir())


def test_there_is_no_link_without_a_runtime(state: StateFolder) -> None:
    with pytest.raises(LocalError, match="no runtime is running"):
        new_link(state, "")
    assert new_link(state, "http://127.0.0.1:8080").startswith("http://127.0.0.1:8080/ui/#once=")
