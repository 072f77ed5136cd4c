"""A folder that is followed: files are pushed once they have settled, and nothing is archived."""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from vitrine.cli.session import watch_changes
from vitrine.transfer.sync_plan import Direction, Options, Step
from vitrine.transfer.syncing import Folders, Plan, Sync
from vitrine.transfer.watching import watch

from tests.unit.client.conftest import World
from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell
from tests.unit.client.test_sync import Sides


class Film:
    """A watched folder on a clock of its own: scenes are played at their second."""

    def __init__(self, world: World, sides: Sides) -> None:
        self.sides, self.now = sides, 0.0
        folders = Folders(root=sides.root, asset=("garage", "pump"))
        self.sync = Sync(client=world.client, folders=folders, state_folder=world.folder / "sync")

    def play(self, scenes: dict[int, Callable[[], object]], seconds: int) -> list[tuple[int, Step]]:
        """Return what happened, each with the second."""

        def changes() -> Iterator[Collection[Path]]:
            for second in range(seconds):
                self.now = float(second)
                result = scenes[second]() if second in scenes else None
                yield [result] if isinstance(result, Path) else []

        steps = watch(self.sync, changes(), clock=lambda: self.now)
        return [(int(self.now), step) for step in steps]


@pytest.fixture
def sides(shell: Shell, server: FakeServer, tmp_path: Path) -> Sides:
    return Sides(shell, server, tmp_path)


@pytest.fixture
def film(world: World, sides: Sides) -> Film:
    return Film(world, sides)


def seen(steps: list[tuple[int, Step]]) -> list[tuple[int, str, str]]:
    return [(second, step.action.value, step.path) for second, step in steps]


def test_a_file_is_uploaded_three_seconds_after_its_last_change(film: Film) -> None:
    sides = film.sides
    sides.save("before", "1")
    steps = film.play(
        {
            1: lambda: sides.save("a.blend", "1"),
            # Without an event: the size decides.
            3: lambda: [sides.save("a.blend", "longer")],
            10: lambda: sides.save("a.blend", "second version"),
        },
        20,
    )
    times = [(0, "/before"), (6, "/a.blend"), (13, "/a.blend")]
    assert seen(steps) == [(second, "upload", path) for second, path in times]
    assert sides.remote["/a.blend"] == "second version"


def test_a_deleted_file_is_not_archived_and_a_moved_folder_is_uploaded(film: Film) -> None:
    sides = film.sides
    outside = sides.root.parent / "new"
    outside.mkdir()
    (outside / "c").write_text("moved")
    (outside / "loop").symlink_to(outside, target_is_directory=True)

    def delete() -> Path:
        (sides.root / "a").unlink()
        return sides.root / "a"

    sides.save("a", "1")
    steps = film.play({2: delete, 4: lambda: outside.rename(sides.root / "new")}, 12)
    assert seen(steps) == [(0, "upload", "/a"), (7, "upload", "/new/c")]
    assert sides.remote == {"/a": "1", "/new/c": "moved"}


def test_a_change_on_the_server_is_reported_and_left(film: Film) -> None:
    sides = film.sides
    sides.save("a", "1")

    def both() -> Path:
        sides.store("/a", "theirs")
        return sides.save("a", "mine")

    assert seen(film.play({1: both}, 8)) == [(0, "upload", "/a"), (4, "conflict", "/a")]
    assert sides.remote == {"/a": "theirs"}


def test_a_failed_upload_is_tried_again_and_an_ignored_file_never(film: Film) -> None:
    sides = film.sides
    sides.server.file_results["/a"] = "out of order"

    def ignore() -> Path:
        return sides.save(".vitrineignore", "*.tmp")

    steps = film.play(
        {
            1: lambda: sides.save("a", "1"),
            2: ignore,
            3: lambda: sides.save("x.tmp", "1"),
            20: sides.server.file_results.clear,
        },
        40,
    )
    assert seen(steps) == [(4, "refuse", "/a"), (34, "upload", "/a")]
    assert steps[0][1].reason == "out of order"


def test_a_file_saved_during_the_first_push_is_uploaded(
    film: Film, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides, plan = film.sides, film.sync.plan
    events: list[Path] = []

    def changes() -> Iterator[Collection[Path]]:
        events.clear()  # the system reports what happens from now on
        for second in range(8):
            film.now = float(second)
            reported = {*events}
            events.clear()
            yield reported

    def save_meanwhile(direction: Direction, options: Options) -> Plan:
        planned = plan(direction, options)
        events.append(sides.save("late", "1"))
        return planned

    monkeypatch.setattr(film.sync, "plan", save_meanwhile)
    steps = watch(film.sync, changes(), clock=lambda: film.now)
    assert [step.path for step in steps] == ["/late"]


def test_what_cannot_be_uploaded_is_reported_and_the_rest_is_followed(film: Film) -> None:
    sides = film.sides
    steps = film.play(
        {
            1: lambda: sides.save("what?.glb", "1"),
            2: lambda: sides.save(".vitrineignore", "!"),
            6: lambda: sides.save(".vitrineignore", "*.tmp"),
            7: lambda: sides.save("x.tmp", "1"),
            8: lambda: sides.save("a", "1"),
        },
        20,
    )
    assert seen(steps) == [
        (2, "refuse", "/.vitrineignore"), (4, "refuse", "/what?.glb"), (11, "upload", "/a")
    ]  # fmt: skip


@pytest.mark.parametrize("replaced", [True, False])
def test_a_removed_folder_ends_the_watch(film: Film, replaced: bool) -> None:
    root = film.sides.root

    def remove() -> None:
        root.rename(root.with_name("elsewhere"))
        if replaced:
            root.mkdir()

    with pytest.raises(FileNotFoundError, match="was removed or replaced"):
        film.play({2: remove}, 5)


def test_the_command_prints_each_upload(sides: Sides) -> None:
    sides.save("a", "1")
    sides.shell.changes = lambda _: [[]]
    sides.shell.run("watch", str(sides.root), "garage/pump")
    assert sides.shell.out.split("\t")[1:] == ["uploaded", "/a", "1 B\n"]
    sides.save("a", "22")
    assert sides.shell.json("watch", str(sides.root), "garage/pump")["action"] == "upload"


def test_changes_of_the_file_system_are_seen(tmp_path: Path) -> None:
    changes = iter(watch_changes(tmp_path))
    assert next(changes) == set()
    (tmp_path / "a").write_text("1")
    os.utime(tmp_path / "a")
    assert any(tmp_path / "a" in next(changes) for _ in range(20))
