"""Folders are moved with their files, by the rules of the move of one file."""

from datetime import timedelta
from unittest.mock import patch

import pytest

from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.folder_moves import OBJECTS
from backend.domains.jobs.models import Job
from backend.entrypoints.wiring.file_changes import change_steps
from backend.entrypoints.wiring.jobs import jobs, runner
from tests.factories.assets import ADMIN
from tests.factories.files import BUCKET, Gallery, gallery
from tests.factories.http import Response
from tests.factories.lifecycle import interrupt
from tests.factories.quarantine import ScanWorld, scan_event
from tests.unit.domains.files.changes import (
    ProcessEnded,
    TickingClock,
    audit_entries,
    body_of,
    head_of,
    memory,
    note,
    notes,
    state_of,
    view,
    views,
)

MOVE = {"sourcePath": "/a/", "destinationPath": "/b"}


class World:
    """An asset, and the worker of its jobs."""

    def __init__(self) -> None:
        self.clock = TickingClock()
        self.tables, self.objects = memory(self.clock)
        self.museum: Gallery = gallery(self.tables, self.objects, clock=self.clock, scans=True)

    def move(self, **body: str) -> Response:
        return self.museum.change("POST", "moveFolder", {**MOVE, **body})

    def work(self, job_id: str) -> Job:
        """Run the job's worker after the lease of an earlier one has expired."""
        self.clock.now += timedelta(minutes=10)
        until = self.clock.now + timedelta(minutes=1)
        job = runner(self.museum.changing).run(
            job_id, change_steps(self.museum.changing).step, until=until
        )
        assert job is not None
        return job

    def job(self, reply: Response) -> Job:
        assert reply.status == 200, reply.body
        return jobs(self.museum.changing).get_job(ADMIN, reply.body["jobId"])

    def active(self) -> list[str]:
        return [path for path, state in state_of(self.objects).items() if state == "active"]


@pytest.fixture
def world() -> World:
    return World()


def test_files_move_with_all_that_belongs_to_them(world: World) -> None:
    museum = world.museum
    for name in ("x.glb", "deep/er/y.glb"):
        museum.objects.put(
            BUCKET,
            f"statue/a/{name}",
            name.encode(),
            content_type="model/x-mine",
            metadata={"vams-primarytype": "lod1"},
        )
        museum.put(f"/a/{name}.previewFile.png")
        note(museum, f"/a/{name}", "year", "1889")
        note(museum, f"/a/{name}", "vertices", "12", kind="attribute")
        view(museum, f"/a/{name}/octree.bin")
    museum.put("/a-2/z.glb")
    reply = world.move()
    assert reply.body["affectedFiles"] == ["/a/", "/b/"]
    assert reply.body["message"] == "2 files were moved from /a/ to /b/"
    job = world.job(reply)
    assert (job.state, job.items_done, job.items_total, job.problems) == ("done", 2, 2, [])
    moved = ["/b/deep/er/y.glb", "/b/x.glb"]
    assert [path for path in world.active() if "preview" not in path] == ["/a-2/z.glb", *moved]
    assert [path for path in world.active() if "preview" in path] == [
        f"{path}.previewFile.png" for path in moved
    ]
    for path in moved:
        assert head_of(world.objects, path).metadata["vams-primarytype"] == "lod1"
        assert notes(museum, path) == {"year": "1889"}
        assert notes(museum, path, kind="attribute") == {"vertices": "12"}
        assert notes(museum, path.replace("/b/", "/a/")) == {}
    assert views(museum) == [f"{path}/octree.bin" for path in moved]
    asset = museum.stored_asset()
    assert set(moved) <= set(asset.typed_files or ())
    (entry,) = audit_entries(world.tables, "move_folder")
    assert entry["entity"] == "file:museum:statue:/a/"
    assert entry["changes"]["path"] == {"before": "/a/", "after": "/b/"}
    assert FileChangeRepository(world.tables).state("statue").job_id is None


def test_what_cannot_move_stays_and_is_named_with_its_reason(world: World) -> None:
    museum = world.museum
    names = ("clean.glb", "archived.glb", "noted.glb", "there.glb", "run.exe", "bad.glb")
    for name in names:
        museum.put(f"/a/{name}", b"moved")
    for name in ("archived.glb", "noted.glb", "there.glb"):
        museum.put(f"/b/c/{name}", b"stays")
    for name in ("archived.glb", "noted.glb"):
        museum.change("DELETE", "archiveFile", {"filePath": f"/b/c/{name}"})
    note(museum, "/b/c/noted.glb", "year", "1889")
    museum.put("/a/orphan.glb.previewFile.png")
    version_id = museum.put("/a/bad.glb", b"malware")
    scans = ScanWorld(world.tables, world.objects)
    scans.deliver_events(scan_event("statue/a/bad.glb", version_id))
    target = "/b/c/"
    job = world.job(world.move(destinationPath=target))
    assert (job.state, job.items_done) == ("done", 2)
    problems = dict(problem.split(": ", 1) for problem in job.problems)
    facts = {
        "/a/noted.glb": "already has an archived file /b/c/noted.glb, whose metadata would be",
        "/a/there.glb": "already has a file /b/c/there.glb",
        "/a/run.exe": "files with the extension .exe are blocked",
        "/a/bad.glb": "quarantined",
        "/a/orphan.glb.previewFile.png": "is a preview without its file",
    }
    assert problems.keys() == facts.keys()
    for path, fact in facts.items():
        assert fact in problems[path]
        assert path in world.active()
    assert body_of(world.objects, "/b/c/archived.glb") == b"moved"
    assert body_of(world.objects, "/b/c/there.glb") == b"stays"


def test_a_path_that_gets_too_long_is_named(world: World) -> None:
    path = "/a/" + "/".join(["n" * 180] * 3) + "/x.glb"
    world.museum.put(path)
    job = world.job(world.move(destinationPath="/" + "/".join(["b" * 200] * 2)))
    (problem,) = job.problems
    assert problem.startswith(path)
    assert "at most" in problem
    assert world.active() == [path]


def test_files_of_many_steps_are_moved_and_the_rest_is_counted(world: World) -> None:
    count = 2 * OBJECTS + 3
    for number in range(count):
        world.museum.put(f"/a/{number:03}.glb")
    for number in range(22):
        world.museum.put(f"/b/{2 * number:03}.glb")
    world.museum.put("/a/")
    job = world.job(world.move())
    if not job.is_finished:
        job = world.work(job.job_id)
    assert (job.state, job.items_done, job.items_total) == ("done", count - 22, count)
    assert len(job.problems) == 20
    assert job.problems[-1] == "Number of other files that remain in /a/: 3"
    left = [path for path in world.active() if path.startswith("/a/")]
    assert left == ["/a/", *(f"/a/{2 * number:03}.glb" for number in range(22))]


def test_empty_folders_move_without_those_in_which_files_remain(world: World) -> None:
    for path in ("/a/", "/a/empty/", "/a/empty/er/", "/a/left/", "/a/left/x.glb", "/b/left/x.glb"):
        world.museum.put(path, b"")
    job = world.job(world.move())
    assert len(job.problems) == 1
    assert world.active() == [
        *("/a/", "/a/left/", "/a/left/x.glb"),
        *("/b/empty/", "/b/empty/er/", "/b/left/x.glb"),
    ]
    for source, target in (("/b/empty/er/", "/c/"), ("/c/", "/b/empty/er/")):  # and back
        job = world.job(world.move(sourcePath=source, destinationPath=target))
        assert job.state == "done"
        assert (source in world.active(), target in world.active()) == (False, True)


@pytest.mark.parametrize(
    ("body", "status", "fact"),
    [
        ({"destinationPath": "/a"}, 400, "destinationPath: is the folder's current path"),
        ({"destinationPath": "/a/b/"}, 400, "destinationPath: is inside the folder that is moved"),
        ({"sourcePath": "/a/deep"}, 404, "/a/deep/"),
        ({"sourcePath": "/b/c", "destinationPath": "/b"}, 400, "contains the folder"),
        ({"sourcePath": "/"}, 400, "sourcePath"),
        ({"destinationPath": "/x/../b/"}, 400, "destinationPath"),
        ({"destinationPath": "/" + "ä" * 500}, 400, "destinationPath"),
        ({"destinationPath": "/b\u200b/"}, 400, "destinationPath"),
        ({"destinationPath": "/file.glb"}, 409, "already has a file /file.glb"),
        ({"sourcePath": "/gone"}, 404, "/gone/"),
        ({"force": "yes"}, 400, "force"),
    ],
)
def test_a_move_that_cannot_be_changes_nothing(
    world: World, body: dict[str, str], status: int, fact: str
) -> None:
    for path in ("/a/x.glb", "/b/c/x.glb", "/file.glb", "/gone/x.glb"):
        world.museum.put(path)
    world.museum.change("DELETE", "archiveFile", {"filePath": "/gone/x.glb"})
    before = state_of(world.objects)
    answer = world.move(**body)
    assert answer.status == status, answer.body
    assert fact in str(answer.body)
    assert state_of(world.objects) == before
    assert audit_entries(world.tables, "move_folder") == []


def test_a_cancelled_move_ends_the_files_that_it_began(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(OBJECTS + 5):
        world.museum.put(f"/a/{number:03}.glb")
    runner_module = "backend.domains.files.service.change_runner"
    for name in ("REQUEST_TIME", "WAITING_TIME"):  # one step in each request
        monkeypatch.setattr(f"{runner_module}.{name}", timedelta(0))
    job_id = world.job(world.move()).job_id
    busy = world.museum.change("DELETE", "archiveFile", {"filePath": "/a/000.glb"})
    assert (busy.status, busy.body["code"]) == (409, "FilesBusy")
    jobs(world.museum.changing).cancel_job(ADMIN, job_id)
    again = world.job(world.move())  # not the job that is being cancelled
    first = jobs(world.museum.changing).get_job(ADMIN, job_id)
    assert (first.state, first.items_done) == ("cancelled", OBJECTS)
    assert first.problems == ["The move was cancelled: the other files remain in /a/"]
    assert again.items_total == 5
    assert world.work(again.job_id).state == "done"
    assert world.active() == [f"/b/{number:03}.glb" for number in range(OBJECTS + 5)]


@pytest.mark.parametrize("moment", ["copy", "delete_many"])
def test_a_worker_that_wakes_up_late_undoes_nothing_of_another_one(
    world: World, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Metadata that was moved is not replaced by none, and a new upload is not hidden."""
    for name in ("1", "2"):
        world.museum.put(f"/a/{name}.glb")
        note(world.museum, f"/a/{name}.glb", "year", name)

    def act() -> None:
        job_id = FileChangeRepository(world.tables).state("statue").job_id
        # The other worker moves the files, but does not end the job yet.
        ended = patch.object(FileChangeRepository, "release", side_effect=ProcessEnded)
        with ended, pytest.raises(ProcessEnded):
            world.work(job_id or "")
        if moment == "delete_many":
            world.museum.put("/a/1.glb", b"anew")

    interrupt(monkeypatch, world.objects, moment, act)
    job = world.job(world.move())
    if not job.is_finished:
        job = world.work(job.job_id)
    assert (job.state, job.problems, job.items_done) == ("done", [], 2)
    assert world.active() == ["/b/1.glb", "/b/2.glb"]
    if moment == "copy":
        result = [notes(world.museum, f"/b/{name}.glb") for name in "12"]
        assert result == [{"year": "1"}, {"year": "2"}]
    else:
        assert body_of(world.objects, "/b/1.glb") == b"anew"
