"""Workers that sleep amid a step, for longer than they have the job: others go on meanwhile."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.lookup import FileLookup, Named
from backend.domains.metadata.service.records import RecordService
from backend.entrypoints.wiring.file_changes import change_steps
from backend.entrypoints.wiring.jobs import runner
from tests.factories.assets import created_asset, created_database
from tests.factories.files import Gallery, gallery
from tests.factories.lifecycle import interrupt
from tests.unit.domains.files.changes import (
    FILE,
    TickingClock,
    body_of,
    change,
    memory,
    note,
    notes,
    state_of,
)

FOLDER = {"filePath": "/parts/", "isPrefix": True}
FOR_GOOD = {"confirmPermanentDelete": True}
TO = {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}


class World:
    """Files of an asset, and a worker that falls asleep once at a call of the object store."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.clock = TickingClock()
        tables, self.objects = memory(self.clock)
        self.changes = FileChangeRepository(tables)
        self.museum: Gallery = gallery(tables, self.objects, clock=self.clock)
        for path in ("/a.glb", "/a.glb.previewFile.png", "/parts/1.glb", "/parts/2.glb"):
            self.museum.put(path, path.encode())

    def send(self, verb: str, body: dict[str, Any], *, method: str = "DELETE") -> None:
        change(self.museum, method, verb, body)

    def sleep_at(
        self,
        operation: str,
        *meanwhile: Callable[["World"], None],
        awake: bool = False,
        of: object = None,
    ) -> None:
        """Sleep before the next call of this operation, or `awake` until it is done.

        Another worker ends the change, and the others do what they do. The operation is one of the
        object store, or `of` a class.
        """

        def act() -> None:
            self.another_has_the_job()
            for do in meanwhile:
                do(self)

        interrupt(self.monkeypatch, of or self.objects, operation, act, after=awake)

    def another_has_the_job(self) -> None:
        states = [self.changes.state(asset_id) for asset_id in ("statue", "bust")]
        (job_id,) = [state.job_id for state in states if state.job_id is not None]
        self.clock.now += timedelta(minutes=10)
        changing, until = self.museum.changing, self.clock.now + timedelta(minutes=1)
        job = runner(changing).run(job_id, change_steps(changing).step, until=until)
        assert job is not None
        assert job.state == "done", job.problems

    @property
    def files(self) -> dict[str, str]:
        return state_of(self.objects)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def restore(path: str) -> Callable[[World], None]:
    return lambda world: world.send("unarchiveFile", {"filePath": path}, method="POST")


def archive(path: str) -> Callable[[World], None]:
    return lambda world: world.send("archiveFile", {"filePath": path})


def upload(path: str) -> Callable[[World], None]:
    def put(world: World) -> None:
        world.museum.put(path, b"anew")

    return put


def delete(path: str) -> Callable[[World], None]:
    return lambda world: world.send("deleteFile", {"filePath": path, **FOR_GOOD})


@pytest.mark.parametrize(
    ("moment", "meanwhile", "state"),
    [
        ("list_objects", [restore("/a.glb")], "active"),
        ("delete_many", [restore("/a.glb")], "active"),
        ("delete_many", [restore("/a.glb"), archive("/a.glb")], "archived"),
    ],
)
def test_a_file_stays_as_others_made_it_when_a_worker_that_archives_wakes_up_late(
    world: World, moment: str, meanwhile: list[Callable[[World], None]], state: str
) -> None:
    world.sleep_at(moment, *meanwhile)
    world.send("archiveFile", FILE)
    assert world.files["/a.glb"] == world.files["/a.glb.previewFile.png"] == state


def test_files_of_a_folder_are_left_as_others_made_them_since(world: World) -> None:
    others = (restore("/parts/1.glb"), upload("/parts/2.glb"))
    world.sleep_at("delete_many", *others)
    world.send("archiveFile", FOLDER)
    assert (world.files["/parts/1.glb"], world.files["/parts/2.glb"]) == ("active", "active")
    assert body_of(world.objects, "/parts/2.glb") == b"anew"


@pytest.mark.parametrize("body", [FILE, FOLDER], ids=["file", "folder"])
def test_a_marker_that_another_worker_found_remains(world: World, body: dict[str, Any]) -> None:
    world.sleep_at("delete_many", awake=True)
    world.send("archiveFile", body)
    hidden = [path for path, state in world.files.items() if state == "archived"]
    assert hidden == (
        ["/a.glb", "/a.glb.previewFile.png"] if body is FILE else ["/parts/1.glb", "/parts/2.glb"]
    )


def test_what_is_uploaded_where_a_file_was_moved_away_is_not_hidden(world: World) -> None:
    world.sleep_at("delete_many", upload("/a.glb"))
    world.send("moveFile", TO, method="POST")
    assert (world.files["/a.glb"], world.files["/b.glb"]) == ("active", "active")
    assert body_of(world.objects, "/a.glb") == b"anew"


@pytest.mark.parametrize("verb", ["copyFile", "moveFile"])
def test_a_copy_that_another_worker_ended_remains(world: World, verb: str) -> None:
    """A late worker finds its source gone, which is no reason to take the copy back."""
    world.sleep_at("copy", delete("/a.glb"))
    world.send(verb, TO, method="POST")
    assert world.files["/b.glb"] == "active"
    assert body_of(world.objects, "/b.glb") == b"/a.glb"


@pytest.mark.parametrize(
    ("verb", "body"),
    [
        ("unarchiveFile", FILE),
        ("copyFile", TO),
        ("moveFile", TO),
    ],
)
def test_what_is_uploaded_after_a_copy_is_not_hidden_by_that_of_a_worker_that_wakes_up_late(
    world: World, verb: str, body: dict[str, str]
) -> None:
    path = body.get("destinationPath", "/a.glb")
    if verb == "unarchiveFile":
        archive("/a.glb")(world)
    world.sleep_at("copy", upload(path))
    world.send(verb, body, method="POST")
    assert body_of(world.objects, path) == b"anew"


@pytest.mark.parametrize("verb", ["copyFile", "moveFile"])
def test_a_copy_that_another_worker_found_remains(world: World, verb: str) -> None:
    world.sleep_at("copy", awake=True)
    world.send(verb, TO, method="POST")
    assert body_of(world.objects, "/b.glb") == b"/a.glb"


def test_a_restored_file_that_another_worker_found_remains(world: World) -> None:
    for do in (archive("/a.glb"), restore("/a.glb"), archive("/a.glb")):
        do(world)
    world.sleep_at("copy", awake=True)
    restore("/a.glb")(world)
    assert world.files["/a.glb"] == "active"


@pytest.mark.parametrize("is_abroad", [False, True])
def test_what_is_noted_of_a_copy_is_not_overwritten(world: World, is_abroad: bool) -> None:
    created_database(world.museum.assets, "archive")
    created_asset(world.museum.assets, "bust", database_id="archive")
    ids = ("archive", "bust") if is_abroad else ("museum", "statue")
    note(world.museum, "/a.glb", "year", "1889")
    operation = "change_records" if is_abroad else "write_as_is"

    def write(world: World) -> None:
        note(world.museum, "/b.glb", "room", "7", ids=ids)

    world.sleep_at(operation, write, of=RecordService)
    to = {"destinationDatabaseId": ids[0], "destinationAssetId": ids[1]}
    world.send("copyFile", {**TO, **to}, method="POST")
    assert notes(world.museum, "/b.glb", ids=ids) == {"year": "1889", "room": "7"}


@pytest.mark.parametrize(
    ("method", "verb", "body"),
    [("POST", "moveFile", TO), ("DELETE", "deleteFile", {**FILE, **FOR_GOOD})],
)
def test_records_of_a_new_file_at_the_path_of_an_old_one_remain(
    world: World, method: str, verb: str, body: dict[str, Any]
) -> None:
    note(world.museum, "/a.glb", "year", "1889")

    def write(world: World) -> None:
        world.museum.put("/a.glb", b"anew")
        note(world.museum, "/a.glb", "room", "7")

    world.sleep_at("delete_records", write, of=Companions)
    world.send(verb, body, method=method)
    assert notes(world.museum, "/a.glb") == {"room": "7"}


@pytest.mark.parametrize("body", [FILE, FOLDER], ids=["file", "folder"])
def test_what_is_uploaded_after_a_deletion_is_not_deleted(
    world: World, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/a.glb" if body is FILE else "/parts/1.glb"

    def named(*_: object) -> Named:
        return Named((path,))

    # the request lists a folder before its change begins, to name the files
    monkeypatch.setattr(FileLookup, "all_files_in", named)
    world.sleep_at("list_versions", upload(path))
    world.send("deleteFile", {**body, **FOR_GOOD})
    assert world.files[path] == "active"
    assert body_of(world.objects, path) == b"anew"
