"""Archived folders come back with their files as they were."""

from datetime import timedelta

import pytest

from backend.domains.jobs.models import Job
from backend.entrypoints.wiring.jobs import jobs
from tests.factories.assets import ADMIN
from tests.factories.files import Gallery, gallery
from tests.factories.http import Response
from tests.factories.quarantine import ScanWorld, scan_event
from tests.unit.domains.files.changes import (
    TickingClock,
    audit_entries,
    memory,
    note,
    notes,
    state_of,
)


class World:
    def __init__(self) -> None:
        self.clock = TickingClock()
        self.tables, self.objects = memory(self.clock)
        self.museum: Gallery = gallery(self.tables, self.objects, clock=self.clock, scans=True)

    def archive(self, path: str) -> None:
        body = {"filePath": path, "isPrefix": path.endswith("/")}
        assert self.museum.change("DELETE", "archiveFile", body).status == 200

    def restore(self, **body: str) -> Response:
        return self.museum.change("POST", "unarchiveFolder", {"folderPath": "/a/", **body})

    def job(self, reply: Response) -> Job:
        assert reply.status == 200, reply.body
        return jobs(self.museum.changing).get_job(ADMIN, reply.body["jobId"])

    def active(self) -> set[str]:
        return {path for path, state in state_of(self.objects).items() if state == "active"}


@pytest.fixture
def world() -> World:
    return World()


def test_all_files_come_back_with_previews_and_metadata(world: World) -> None:
    names = {f"/a/{number}.glb" for number in range(30)} | {"/a/deep/er/x.glb"}
    for name in sorted(names):
        world.museum.put(name)
    world.museum.put("/a/0.glb.previewFile.png")
    world.museum.put("/a-2/y.glb")
    note(world.museum, "/a/0.glb", "year", "1889")
    world.archive("/a/")
    world.archive("/a-2/")
    reply = world.restore()
    assert reply.body["message"] == "31 files were restored in /a/"
    job = world.job(reply)
    assert (job.state, job.items_done, job.problems) == ("done", 31, [])
    assert world.active() == names | {"/a/0.glb.previewFile.png"}
    assert notes(world.museum, "/a/0.glb") == {"year": "1889"}
    (entry,) = audit_entries(world.tables, "unarchive_folder")
    assert entry["entity"] == "file:museum:statue:/a/"
    assert world.restore().body["code"] == "FileStateForbids"
    assert world.museum.change("POST", "unarchiveFolder", {"folderPath": "/no/"}).status == 404


def test_files_archived_before_a_time_stay_archived(world: World) -> None:
    for name in ("/a/earlier.glb", "/a/later.glb"):
        world.museum.put(name)
    world.archive("/a/earlier.glb")
    world.clock.now += timedelta(hours=1)
    since = world.clock.now.isoformat()
    world.archive("/a/")
    assert world.job(world.restore(archivedSince=since)).items_done == 1
    assert world.active() == {"/a/later.glb"}
    assert world.restore(archivedSince="2026-01-31T12:00:00").status == 400  # no time zone


def test_files_that_were_moved_away_stay_at_their_new_place(world: World) -> None:
    def move(verb: str, source: str, target: str) -> None:
        body = {"sourcePath": source, "destinationPath": target}
        assert world.museum.change("POST", verb, body).status == 200

    for name in ("kept", "away", "again", "back", "anew", "deep/file"):
        world.museum.put(f"/a/{name}.glb")
    for name in ("away", "again", "back", "anew"):
        move("moveFile", f"/a/{name}.glb", f"/b/{name}.glb")
    move("moveFolder", "/a/deep/", "/b/deep/")
    # Files that were archived as such, at the earlier places of others.
    move("moveFile", "/b/back.glb", "/a/back.glb")
    world.museum.put("/a/anew.glb", b"another")
    again = {"filePath": "/a/again.glb"}
    assert world.museum.change("POST", "unarchiveFile", again).status == 200
    world.archive("/a/")
    moved = {"/b/away.glb", "/b/again.glb", "/b/anew.glb", "/b/deep/file.glb"}
    assert world.active() == moved
    restored = {f"/a/{name}.glb" for name in ("kept", "again", "back", "anew")}
    assert world.job(world.restore()).items_done == len(restored)
    assert world.active() == moved | restored


def test_quarantined_files_stay_archived_and_are_named(world: World) -> None:
    for name in ("/a/bad.glb", "/a/clean.glb"):
        version_id = world.museum.put(name)
        if "bad" in name:
            scans = ScanWorld(world.tables, world.objects)
            scans.deliver_events(scan_event(f"statue{name}", version_id))
    world.archive("/a/")
    job = world.job(world.restore())
    assert world.active() == {"/a/clean.glb"}
    (problem,) = job.problems
    assert problem.startswith("/a/bad.glb: ")
    assert "quarantine" in problem
