"""Changes of files whose process dies at any moment, come at the same time, or are large."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from backend.core.errors import NotFoundError, UnavailableError
from backend.core.file_kinds import is_file
from backend.core.objects import ObjectRefusedError
from backend.core.references import AssetRef
from backend.domains.files.errors import ChangeBusyError, ChangeEndedError
from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.lookup import FileLookup
from backend.domains.files.service.rows import FileTarget
from backend.entrypoints.wiring.file_changes import change_steps, changes
from backend.entrypoints.wiring.jobs import jobs, runner
from backend.spec.tables.operations import JOBS
from tests.factories.assets import ADMIN
from tests.factories.files import BUCKET, Gallery, gallery
from tests.factories.lifecycle import lifecycle
from tests.unit.domains.files.changes import (
    ProcessEnded,
    TickingClock,
    audit_entries,
    body_of,
    memory,
    note,
    notes,
    state_of,
    view,
    views,
)

LEASE = timedelta(minutes=10)
MOVE = {"sourcePath": "/a.glb", "destinationPath": "/parts/b.glb"}
INTO = {"sourcePath": "/parts", "destinationPath": "/bin/"}
NOTED = ("/a.glb", "/parts/b.glb", "/parts/1.glb", "/bin/1.glb")
FILE = {"filePath": "/a.glb"}
RESTORED = {"folderPath": "/parts"}
FOLDER = {"filePath": "/parts", "isPrefix": True, "confirmPermanentDelete": True}


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store in memory is not made for threads."""
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


class World:
    """A file with all that can belong to it, and ports that fail at a moment."""

    def __init__(self, **more: Any) -> None:
        self.tables, self.objects = memory()
        self.clock = TickingClock()
        self.museum: Gallery = gallery(self.tables, self.objects, clock=self.clock, **more)
        self.first = self.museum.put("/a.glb", b"marble")
        self.museum.put("/a.glb.previewFile.png", b"png")
        self.museum.put("/parts/1.glb", b"one")
        self.museum.put("/parts/2.glb", b"two")
        note(self.museum, "/a.glb", "year", "1889")
        view(self.museum, "/a.glb/octree.bin")

    def fail_at(self, number: int, error: Callable[[], BaseException]) -> None:
        """Fail at this call of a port, and with a death at all calls after it."""
        calls = 0

        def before(operation: str) -> None:
            nonlocal calls
            calls += 1
            if calls == number or (calls > number and error is ProcessEnded):
                raise error()

        self.tables.before = self.objects.before = before

    def die_at(self, wanted: str) -> None:
        """End at the first call of this operation, or of any after it."""
        is_dead = False

        def before(operation: str) -> None:
            nonlocal is_dead
            is_dead = is_dead or operation == wanted
            if is_dead:
                raise ProcessEnded

        self.tables.before = self.objects.before = before

    def die_while(self, operation: str, *request: Any) -> None:
        """End at this operation of a change, after which all ports work again."""
        self.die_at(operation)
        with pytest.raises(ProcessEnded):
            self.museum.change(*request)
        self.heal()

    def heal(self) -> None:
        self.tables.before = self.objects.before = lambda operation: None

    def finish(self, state: str = "done") -> None:
        """Run the worker after the lease of the dead one has expired."""
        self.heal()
        self.clock.now += LEASE
        changing = self.museum.changing
        job_id = FileChangeRepository(self.tables).state("statue").job_id
        if job_id is not None:
            until = self.clock.now + timedelta(minutes=1)
            job = runner(changing).run(job_id, change_steps(changing).step, until=until)
            assert job is not None
            assert job.state == state, job.problems
        assert FileChangeRepository(self.tables).state("statue").job_id is None

    def facts(self) -> dict[str, Any]:
        """Return the files that users see, and the number of versions."""
        return {
            "files": state_of(self.objects),
            "notes": [notes(self.museum, path) for path in NOTED],
            "views": views(self.museum),
            "versions": sorted(
                version.key for version in self.objects.list_versions(BUCKET, "statue/").versions
            ),
            "type": getattr(self.museum.assets.find_asset("museum", "statue"), "asset_type", None),
        }


def archived_first(world: World) -> None:
    world.museum.change("DELETE", "archiveFile", FILE)


def folder_first(world: World) -> None:
    world.museum.put("/parts/1.glb.previewFile.png", b"png")
    world.museum.change("DELETE", "archiveFile", FOLDER)


def folder_with_conflict(world: World) -> None:
    """Files with data, one that exists at the destination, and an empty folder."""
    world.museum.put("/parts/1.glb.previewFile.png", b"png")
    note(world.museum, "/parts/1.glb", "year", "1889")
    view(world.museum, "/parts/1.glb/octree.bin")
    world.museum.put("/bin/2.glb", b"another")
    for path in ("/parts/3.glb", "/parts/empty/"):
        world.museum.put(path, b"")


def nothing(world: World) -> None: ...


CHANGES: dict[str, tuple[Callable[[World], None], tuple[Any, ...], str]] = {
    "folder": (nothing, ("POST", "createFolder", {"relativeKey": "/new/"}), "create_folder"),
    "move": (nothing, ("POST", "moveFile", MOVE), "move_file"),
    "move-folder": (folder_with_conflict, ("POST", "moveFolder", INTO), "move_folder"),
    "copy": (nothing, ("POST", "copyFile", MOVE), "copy_file"),
    "archive": (nothing, ("DELETE", "archiveFile", FILE), "archive_file"),
    "archive-folder": (nothing, ("DELETE", "archiveFile", FOLDER), "archive_file"),
    "unarchive": (archived_first, ("POST", "unarchiveFile", FILE), "unarchive_file"),
    "unarchive-folder": (folder_first, ("POST", "unarchiveFolder", RESTORED), "unarchive_folder"),
    "delete": (
        nothing,
        ("DELETE", "deleteFile", {**FILE, "confirmPermanentDelete": True}),
        "delete_file",
    ),
    "delete-folder": (nothing, ("DELETE", "deleteFile", FOLDER), "delete_file"),
    "primary": (
        nothing,
        ("PUT", "setPrimaryFile", {**FILE, "primaryType": "lod1"}),
        "set_primary_file",
    ),
    "auxiliary": (
        nothing,
        ("DELETE", "deleteAuxiliaryPreviewAssetFiles", FILE),
        "delete_auxiliary_files",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("outage", [False, True], ids=["death", "outage"])
def test_a_change_that_dies_anywhere_is_finished_or_never_began(name: str, outage: bool) -> None:
    prepare, request, operation = CHANGES[name]
    whole = World()
    prepare(whole)
    before = whole.facts()
    assert whole.museum.change(*request).status == 200
    after = whole.facts()
    assert after != before or name == "primary"
    error = (lambda: UnavailableError("S3 is down")) if outage else ProcessEnded
    for number in range(1, 400):
        world = World()
        prepare(world)
        world.fail_at(number, error)
        try:
            answer = world.museum.change(*request)
        except ProcessEnded:
            answer = None
        world.finish()
        begun = len(audit_entries(world.tables, operation))
        assert world.facts() == (after if begun else before), f"at call {number}"
        if answer is not None and not outage:
            assert answer.status == 200
            return
        if answer is not None and answer.status == 200 and number > 100:
            return
    pytest.fail("the change takes more calls than that")


def test_the_same_request_sent_again_gets_the_change_that_was_started() -> None:
    world = World()
    world.die_while("copy", "POST", "moveFile", MOVE)
    world.clock.now += LEASE
    answer = world.museum.change("POST", "moveFile", MOVE)
    assert answer.status == 200, answer.body
    assert len(audit_entries(world.tables, "move_file")) == 1
    assert state_of(world.objects)["/a.glb"] == "archived"


@pytest.mark.parametrize("verb", ["archiveFile", "deleteFile"])
def test_a_repeated_request_for_a_folder_names_the_folder_of_its_job(verb: str) -> None:
    world = World()
    world.die_while("delete", "DELETE", verb, FOLDER)
    world.clock.now += LEASE
    answer = world.museum.change("DELETE", verb, FOLDER)
    assert answer.status == 200, answer.body
    assert answer.body["affectedFiles"] == ["/parts/"]


def test_a_change_waits_for_another_one_and_is_refused_if_that_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.die_while("copy", "POST", "moveFile", MOVE)
    runner = changes(world.museum.changing).runner
    pauses: list[float] = []
    monkeypatch.setattr(runner, "pause", pauses.append)
    busy = world.museum.change("DELETE", "archiveFile", {"filePath": "/parts/1.glb"})
    assert (busy.status, busy.body["code"]) == (409, "FilesBusy")
    assert pauses
    world.clock.now += LEASE
    done = world.museum.change("DELETE", "archiveFile", {"filePath": "/parts/1.glb"})
    assert done.status == 200
    assert state_of(world.objects)["/parts/b.glb"] == "active"


def test_what_the_store_refuses_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    before = world.facts()

    def refuse(*_: object, **__: object) -> None:
        raise ObjectRefusedError("statue/parts/b.glb", "there is a file of that name")

    # the file itself is copied, its preview is not
    copy, copies = world.objects.copy, [0]

    def sometimes(*args: Any, **more: Any) -> Any:
        copies[0] += 1
        return copy(*args, **more) if copies[0] == 1 else refuse()

    monkeypatch.setattr(world.objects, "copy", sometimes)
    answer = world.museum.change("POST", "moveFile", MOVE)
    assert (answer.status, answer.body["code"]) == (409, "FileChangeFailed")
    assert world.facts() == before
    world.finish()
    monkeypatch.undo()
    assert world.museum.change("POST", "moveFile", MOVE).status == 200


def test_what_is_uploaded_while_a_file_moves_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    copy = world.objects.copy
    turns = iter([True])

    def with_upload(*args: Any, **more: Any) -> Any:
        written = copy(*args, **more)
        if next(turns, False):
            world.museum.put("/a.glb", b"newer marble")
        return written

    monkeypatch.setattr(world.objects, "copy", with_upload)
    assert world.museum.change("POST", "moveFile", MOVE).status == 200
    assert body_of(world.objects, "/parts/b.glb") == b"newer marble"
    assert state_of(world.objects)["/a.glb"] == "archived"


def test_large_files_are_copied_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.core.part_copies.MIN_PART_BYTES", 4)
    monkeypatch.setattr("tests.fakes.objects._LEAST_PART_BYTES", 4)
    monkeypatch.setattr("backend.core.part_copies.copy_spans", _quarters)
    world = World(large_bytes=16)
    world.museum.put("/big.glb", bytes(range(100)))
    to = {"sourcePath": "/big.glb", "destinationPath": "/huge.glb"}
    answer = world.museum.change("POST", "moveFile", to)
    assert answer.status == 200, answer.body
    assert body_of(world.objects, "/huge.glb") == bytes(range(100))
    assert state_of(world.objects)["/big.glb"] == "archived"
    first = world.objects.list_versions(BUCKET, "statue/huge.glb").versions[0].version_id
    reverted = world.museum.change(
        "POST", "revertFileVersion", {"filePath": "/huge.glb"}, versionId=first
    )
    assert reverted.status == 200
    assert reverted.body["newVersionId"] != first


def _quarters(size: int, large_bytes: int) -> list[tuple[int, int]]:
    return [(start, min(start + 4, size)) for start in range(0, size, 4)]


def test_a_job_that_was_deleted_does_not_block_an_asset() -> None:
    world = World()
    world.die_while("copy", "POST", "moveFile", MOVE)
    world.tables.items[JOBS.name].clear()
    assert world.museum.change("DELETE", "archiveFile", FILE).status == 200


def test_a_step_after_the_end_of_its_job_does_nothing() -> None:
    world = World()
    world.museum.change("POST", "moveFile", MOVE)
    after = world.facts()
    (row,) = world.tables.items[JOBS.name].values()
    job = jobs(world.museum.changing).find(row["jobId"])
    assert job is not None
    assert change_steps(world.museum.changing).step(job).finished
    assert world.facts() == after


def test_an_asset_is_not_archived_while_its_files_are_changed() -> None:
    tables, objects = memory()
    kept = lifecycle(tables, objects)
    kept.gallery.put("/a.glb")
    change = kept.gallery.changing
    state = FileChangeRepository(tables).state("statue")
    FileChangeRepository(tables).commit(kept.gallery.asset, state, "changeFiles.1", [])
    with pytest.raises(ChangeBusyError):
        kept.service.archive_asset(ADMIN, "museum", "statue")
    assert state_of(objects) == {"/a.glb": "active"}
    FileChangeRepository(tables).release("statue", "changeFiles.1")
    assert kept.service.archive_asset(ADMIN, "museum", "statue").job.state == "done"
    with pytest.raises(NotFoundError):
        changes(change).archive_file(ADMIN, AssetRef("museum", "statue"), "/a.glb")


def test_a_change_that_was_undone_is_not_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()

    def refuse(*_: object, **__: object) -> None:
        raise ObjectRefusedError("statue/parts/b.glb", "there is a file of that name")

    monkeypatch.setattr(world.objects, "copy", refuse)
    assert world.museum.change("POST", "copyFile", MOVE).status == 409
    (row,) = world.tables.items[JOBS.name].values()
    assert row["state"] == "failed"
    with pytest.raises(ChangeEndedError):
        jobs(world.museum.changing).resume_job(ADMIN, row["jobId"])


def test_what_was_looked_at_is_looked_at_again_if_another_change_came_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    look, turns = FileLookup.require_unused_name, iter([True])

    def interrupted(places: FileLookup, place: FileTarget) -> None:
        look(places, place)
        if next(turns, False):
            assert world.museum.change("DELETE", "archiveFile", FILE).status == 200

    monkeypatch.setattr(FileLookup, "require_unused_name", interrupted)
    answer = world.museum.change("POST", "moveFile", MOVE)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "sourcePath")
    assert audit_entries(world.tables, "move_file") == []
    assert "/parts/b.glb" not in state_of(world.objects)


def test_a_folder_move_that_dies_and_is_cancelled_leaves_each_file_in_one_place() -> None:
    for number in range(1, 400):
        world = World()
        folder_with_conflict(world)
        before = pieces(world)
        world.fail_at(number, ProcessEnded)
        died = False
        try:
            world.museum.change("POST", "moveFolder", INTO)
        except ProcessEnded:
            died = True
        world.heal()
        job_id = FileChangeRepository(world.tables).state("statue").job_id
        if job_id is not None:
            service = jobs(world.museum.changing)
            service.cancel_job(ADMIN, job_id)
            world.finish("cancelled")
            job = service.get_job(ADMIN, job_id)
            assert job.problems[-1] == "The move was cancelled: the other files remain in /parts/"
            moved = {path for path in pieces(world) if path in {"/bin/1.glb", "/bin/3.glb"}}
            assert job.items_done == len(moved), f"at call {number}"
        after = {path.replace("/bin/", "/parts/"): data for path, data in pieces(world).items()}
        assert after == {path.replace("/bin/", "/parts/"): data for path, data in before.items()}
        assert len(pieces(world)) == len(before), f"at call {number}"
        if not died:
            return
    pytest.fail("the change takes more calls than that")


def pieces(world: World) -> dict[str, Any]:
    """Return what belongs to each file of the folders, by its path."""
    states = state_of(world.objects)
    paths = [p for p, state in states.items() if state == "active" and is_file(p)]
    return {
        path: (
            body_of(world.objects, path),
            states.get(f"{path}.previewFile.png"),
            notes(world.museum, path),
            [view.removeprefix(path) for view in views(world.museum) if view.startswith(path)],
        )
        for path in paths
        if path != "/bin/2.glb"
    }
