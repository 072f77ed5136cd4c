"""Metadata that is written while its file is moved, copied or deleted: kept, or refused."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from backend.domains.files.repository import FileChangeRepository
from backend.entrypoints.wiring.file_changes import change_steps
from backend.entrypoints.wiring.jobs import runner
from backend.entrypoints.wiring.metadata import metadata
from tests.factories.files import gallery
from tests.factories.http import Client
from tests.factories.metadata import metadata_router
from tests.unit.domains.files.changes import ProcessEnded, TickingClock, memory, notes
from tests.unit.domains.metadata.calls import FILE, record, send

Request = tuple[str, str, dict[str, Any]]
OLD, NEW, OTHER = "/a/b.glb", "/b/b.glb", "/c.glb"
BOTH = {"sourcePath": OLD, "destinationPath": NEW}
MOVE: Request = ("POST", "moveFile", BOTH)
COPY: Request = ("POST", "copyFile", BOTH)
MOVE_FOLDER: Request = ("POST", "moveFolder", {"sourcePath": "/a", "destinationPath": "/b"})
DELETE: Request = ("DELETE", "deleteFile", {"filePath": OLD, "confirmPermanentDelete": True})
FOLDER = {"filePath": "/a", "isPrefix": True, "confirmPermanentDelete": True}
DELETE_FOLDER: Request = ("DELETE", "deleteFile", FOLDER)
REFUSALS = {(404, "FileNotFound"), (409, "FilesBusy")}


class World:
    """An asset with two files, and the routes of files and of metadata."""

    def __init__(self) -> None:
        self.clock = TickingClock()
        self.tables, self.objects = memory(self.clock)
        self.museum = gallery(self.tables, self.objects, clock=self.clock)
        self.client = Client(metadata_router(metadata(self.museum.changing)))
        self.accepted: dict[str, set[str]] = {OLD: set(), NEW: set(), OTHER: set()}
        for path in (OLD, OTHER):
            self.museum.put(path, path.encode())

    def at_calls(self, act: Callable[[int], None]) -> None:
        """Do this before each call of a port; the calls that it makes are not counted."""
        numbers = count(1)

        def before(_: str) -> None:
            self.heal()
            act(next(numbers))
            self.tables.before = self.objects.before = before

        self.tables.before = self.objects.before = before

    def heal(self) -> None:
        self.tables.before = self.objects.before = lambda _: None

    def write(self, path: str, key: str) -> tuple[int, str | None]:
        body = {"metadata": [record(key)], "filePath": path, "type": "metadata"}
        reply = send(self.client, "PUT", FILE, body=body)
        if reply.status == 200:
            self.accepted[path].add(key)
        return reply.status, reply.body.get("code")

    def change(self, request: Request) -> None:
        reply = self.museum.change(*request)
        assert reply.status == 200, reply.body

    def finish(self) -> None:
        """Run the worker of a change whose process ended."""
        self.clock.now += timedelta(minutes=10)
        job_id = FileChangeRepository(self.tables).state("statue").job_id or ""
        until = self.clock.now + timedelta(minutes=1)
        changing = self.museum.changing
        job = runner(changing).run(job_id, change_steps(changing).step, until=until)
        assert job is not None
        assert job.state == "done", job.problems

    def check(self, request: Request) -> None:
        """Every accepted record is where its file is now, and nothing else is stored."""
        kept = {path: set(notes(self.museum, path)) for path in self.accepted}
        old, new = self.accepted[OLD], self.accepted[NEW]
        moved, deleted = request in (MOVE, MOVE_FOLDER), request in (DELETE, DELETE_FOLDER)
        assert kept[OLD] == (set() if moved or deleted else old)
        assert (kept[NEW] - old, new - kept[NEW]) == (new, set())
        assert not moved or kept[NEW] == old | new
        assert kept[OTHER] == self.accepted[OTHER]


@pytest.mark.parametrize("request_", [MOVE, MOVE_FOLDER, COPY, DELETE, DELETE_FOLDER])
def test_what_is_accepted_at_any_moment_of_a_change_is_kept(request_: Request) -> None:
    world, replies = World(), set[tuple[int, str | None]]()

    def write(number: int) -> None:
        for path in (OLD, NEW):
            replies.add(world.write(path, f"k{number}{path[1]}"))
        assert world.write(OTHER, f"k{number}") == (200, None)  # only the files of the change wait

    world.at_calls(write)
    world.change(request_)
    world.heal()
    assert replies == {(200, None), *REFUSALS}
    world.check(request_)


@pytest.mark.parametrize("request_", [MOVE, MOVE_FOLDER, COPY, DELETE, DELETE_FOLDER])
def test_a_change_that_happens_within_a_write_loses_nothing(request_: Request) -> None:
    for moment in count(1):
        world, calls = World(), 0

        def at(number: int, world: World = world, moment: int = moment) -> None:
            nonlocal calls
            calls = number
            if number == moment:
                world.change(request_)

        world.at_calls(at)
        reply = world.write(OLD, "year")
        world.heal()
        assert reply in {(200, None), *REFUSALS}
        if calls < moment:
            return
        world.check(request_)


@pytest.mark.parametrize("request_", [MOVE, MOVE_FOLDER])
def test_a_move_that_was_killed_keeps_metadata_waiting_until_it_is_resumed(
    request_: Request,
) -> None:
    world = World()
    world.write(OLD, "year")

    def die(operation: str) -> None:
        if operation == "copy":
            raise ProcessEnded

    world.objects.before = die
    with pytest.raises(ProcessEnded):
        world.change(request_)
    world.heal()
    assert world.write(OLD, "room") == (409, "FilesBusy")
    assert world.write(OTHER, "room") == (200, None)
    world.finish()
    assert world.write(NEW, "room") == (200, None)
    assert set(notes(world.museum, NEW)) == {"year", "room"}
