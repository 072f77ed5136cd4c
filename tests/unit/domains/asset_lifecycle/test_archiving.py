"""Archiving an asset and bringing it back: the row at once, the files by a job; late workers."""

from datetime import timedelta
from functools import partial
from unittest.mock import patch

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import ObjectHead
from backend.core.paging import PageRequest
from backend.core.tables import Query, Tables
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.assets.routes import build_router
from backend.spec.tables.assets import ARCHIVED_FILES
from tests.factories.assets import ADMIN, created_asset
from tests.factories.audit import entries
from tests.factories.files import BUCKET, PARAMETERS, PATH
from tests.factories.http import Client, Response
from tests.factories.lifecycle import KilledError, Lifecycle, interrupt, kill, lifecycle


def get(museum: Lifecycle, **query: str) -> Response:
    client = Client(build_router(museum.gallery.assets))
    return client.send("GET", PATH, parameters=PARAMETERS, query=query)


def listed(museum: Lifecycle, **query: str) -> list[str]:
    client = Client(build_router(museum.gallery.assets))
    parameters = {"databaseId": "museum"}
    answer = client.send("GET", "/database/museum/assets", parameters=parameters, query=query)
    return [item["assetId"] for item in answer.body["Items"]]


def count(museum: Lifecycle) -> int:
    return museum.gallery.assets.databases.describe_database(ADMIN, "museum").asset_count


def pages(tables: Tables) -> int:
    query = Query(table=ARCHIVED_FILES, partition="museum:statue")
    return len(tables.query_all(query))


def put_files(museum: Lifecycle, number: int) -> list[str]:
    paths = [f"/{n:02}.glb" for n in range(number)]
    for path in paths:
        museum.gallery.put(path)
    return paths


def half(museum: Lifecycle, operation: str) -> str:
    """Begin a change whose request does a part of the steps only; return its job."""
    museum.hands.tick = timedelta(milliseconds=200)
    job_id = museum.change(operation)
    museum.hands.tick = timedelta(0)
    return job_id


def test_an_archived_asset_is_only_shown_on_request_and_comes_back_as_it_was(
    museum: Lifecycle, tables: Tables
) -> None:
    before, counts = museum.stored, [count(museum)]
    museum.gallery.put("/parts/a b.glb")
    museum.hands.now += timedelta(seconds=1)
    answer = museum.send("archive", confirmArchive=True, reason="sold")
    assert answer.status == 200, answer.body
    assert (answer.body["operation"], answer.body["assetId"]) == ("archive", "statue")
    assert (answer.body["success"], answer.body["jobState"]) == (True, "done")
    assert (get(museum).status, listed(museum)) == (404, [])
    body = get(museum, showArchived="true").body
    fields = [body[name] for name in ("status", "archivedBy", "archivedReason", "archivedAt")]
    assert fields == ["archived", "admin", "sold", answer.body["timestamp"]]
    assert listed(museum, showArchived="true") == ["statue"]
    assert ("museum", "statue", "/parts/a b.glb") in museum.reindexing.built
    # of this the stream makes a fan-out over all files
    assert museum.stored.inherited_revision == 2
    query = Query(table=ARCHIVED_FILES, partition="museum:statue")
    (row,) = tables.query(query, PageRequest(10)).items
    assert row["paths"] == ["parts/a b.glb"]  # relative ones only
    counts.append(count(museum))
    museum.hands.now += timedelta(seconds=1)
    museum.change("unarchive", reason="bought back")
    after = museum.stored
    changed = {"revision", "inherited_revision", "updated_at", "lifecycle_job_id"}
    assert after.model_dump(exclude=changed) == before.model_dump(exclude=changed)
    assert (after.revision, after.inherited_revision) == (3, 3)
    assert [*counts, count(museum)] == [1, 0, 1]
    archived, returned = [e for e in entries(tables) if e["entity"] == "asset:museum:statue"][-2:]
    assert archived["operation"] == "archive_asset"
    assert archived["changes"]["status"] == {"before": "active", "after": "archived"}
    assert archived["changes"]["archivedReason"] == {"after": "sold"}
    assert returned["operation"] == "unarchive_asset"
    assert returned["changes"]["unarchivedReason"] == {"after": "bought back"}


@pytest.mark.parametrize("base", ["/", "base/"])
@pytest.mark.parametrize(
    "paths",
    [
        *([f"/parts/{n}.glb" for n in range(number)] for number in (0, 1, 3, 7)),
        ["/with blank.glb", "/a+b%20ä.glb", "/日本/😀.obj"],
    ],
)
def test_all_files_follow_their_asset_and_come_back(
    tables: Tables, objects: S3Objects, base: str, paths: list[str]
) -> None:
    museum = lifecycle(tables, objects, base_prefix=base)
    versions = {path: museum.gallery.put(path) for path in paths}
    museum.archive()
    assert museum.files() == dict.fromkeys(versions, True)
    museum.unarchive()
    assert museum.files() == dict.fromkeys(versions, False)
    for path, version_id in versions.items():
        head = museum.objects.head(BUCKET, base.removeprefix("/") + "statue" + path)
        assert isinstance(head, ObjectHead)
        assert head.version.version_id == version_id


def test_files_return_only_if_they_are_wanted(museum: Lifecycle, tables: Tables) -> None:
    for path in ("/a.glb", "/b.glb", "/c.glb"):
        museum.gallery.put(path)
    museum.archive()
    answer = museum.send("unarchive", confirmUnarchive=True, unarchiveFiles=False)
    assert answer.status == 200, answer.body
    museum.work(answer.body["jobId"])
    assert museum.files() == dict.fromkeys(("/a.glb", "/b.glb", "/c.glb"), True)
    assert museum.stored.status == "active"
    assert museum.gallery.file_info("/a.glb").body["changeSource"] == "assetArchive"
    entry = [e for e in entries(tables) if e["operation"] == "unarchive_asset"][-1]
    assert entry["changes"]["unarchiveFiles"] == {"after": False}
    museum.gallery.put("/d.glb")
    # A later archiving restores only what it took.
    museum.archive()
    museum.unarchive()
    shown = {path for path, is_hidden in museum.files().items() if not is_hidden}
    assert shown == {"/d.glb"}
    for wrong in ("false", 0):
        answer = museum.send("unarchive", confirmUnarchive=True, unarchiveFiles=wrong)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "unarchiveFiles")


def test_markers_of_folders_stay_as_they_are(museum: Lifecycle) -> None:
    for path in ("/a/", "/b/", "/c/", "/d/", "/d/x.glb", "/e/", "/f/", "/g/", "/h/"):
        museum.gallery.put(path, b"")
    museum.archive()
    assert [path for path, hidden in museum.files().items() if hidden] == ["/d/x.glb"]
    museum.unarchive()
    assert not any(museum.files().values())


def test_files_that_were_archived_before_stay_archived(museum: Lifecycle, tables: Tables) -> None:
    for path in ("/a.glb", "/b.glb", "/c.glb", "/d.glb"):
        museum.gallery.put(path)
    museum.hide("/b.glb")
    museum.gallery.put("/c.glb")
    museum.hide("/c.glb")
    museum.hide("/c.glb")
    museum.archive()
    museum.hide("/a.glb")  # a request that S3 carried out twice
    museum.unarchive()
    assert museum.files() == {"/a.glb": False, "/b.glb": True, "/c.glb": True, "/d.glb": False}
    assert pages(tables) == 0
    for path in ("/a.glb", "/d.glb"):
        museum.hide(path)
    museum.archive()
    assert pages(tables) == 0  # of which all files were archived
    museum.unarchive()
    assert all(museum.files().values())


def test_a_request_begins_no_step_after_its_time_and_the_worker_continues(
    museum: Lifecycle,
) -> None:
    put_files(museum, 20)
    museum.hands.tick = timedelta(milliseconds=200)
    answer = museum.send("archive", confirmArchive=True)
    assert answer.body["jobState"] == "running"
    assert answer.body["jobId"] in answer.body["message"]
    hidden = sum(museum.files().values())
    assert 0 < hidden < 20
    assert get(museum).status == 404
    museum.hands.tick = timedelta(0)
    job = museum.work_off(answer.body["jobId"])
    assert (job.state, job.items_done) == ("done", 20)
    assert all(museum.files().values())


@pytest.mark.parametrize("operation", ["archive", "unarchive"])
def test_a_request_whose_change_took_its_time_leaves_all_steps_to_the_worker(
    museum: Lifecycle, operation: str
) -> None:
    museum.gallery.put("/a.glb")
    if operation == "unarchive":
        museum.archive()
    before = museum.files()
    museum.hands.tick = timedelta(seconds=2)
    answer = museum.send(operation, confirmArchive=True, confirmUnarchive=True)
    assert (answer.status, answer.body["jobState"]) == (200, "queued")
    museum.hands.tick = timedelta(0)
    assert museum.files() == before
    assert museum.work_off(answer.body["jobId"]).state == "done"
    assert museum.files() == {"/a.glb": operation == "archive"}


def test_files_that_come_in_during_the_archiving_are_taken_by_the_second_pass(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_files(museum, 6)
    store = type(museum.objects)
    late = partial(museum.gallery.put, "/00-late.glb")
    interrupt(monkeypatch, store, "delete_many", late, after=True)
    museum.archive()
    assert museum.files()["/00-late.glb"]
    museum.unarchive()
    assert not any(museum.files().values())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("operation", ["archive", "unarchive"])
def test_a_worker_that_dies_at_any_page_leaves_what_the_next_one_finishes(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, operation: str, when: str
) -> None:
    paths = put_files(museum, 8)
    museum.gallery.put("/own.glb")
    museum.hide("/own.glb")
    if operation == "unarchive":
        museum.archive()
    kill(monkeypatch, type(museum.objects), "delete_many", times=4, after=when == "after")
    with pytest.raises(KilledError):
        museum.change(operation)
    job_id = museum.stored.lifecycle_job_id
    assert job_id is not None
    assert museum.work_off_deaths(job_id).state == "done"
    hidden = operation == "archive"
    assert museum.files() == {**dict.fromkeys(paths, hidden), "/own.glb": True}
    if operation == "archive":
        museum.unarchive()
        assert museum.files() == {**dict.fromkeys(paths, False), "/own.glb": True}


def test_a_cancelled_archiving_continues_when_it_is_resumed(museum: Lifecycle) -> None:
    put_files(museum, 10)
    job_id = half(museum, "archive")
    assert museum.refused("unarchive") == (409, "AssetBusy")
    museum.jobs.cancel_job(ADMIN, job_id)
    assert museum.work_off(job_id).state == "cancelled"
    assert not all(museum.files().values())
    museum.jobs.resume_job(ADMIN, job_id)
    museum.hands.now += timedelta(minutes=5)
    assert museum.work_off(job_id).state == "done"
    assert all(museum.files().values())


def test_what_a_cancelled_archiving_took_comes_back(museum: Lifecycle, tables: Tables) -> None:
    put_files(museum, 10)
    archived = half(museum, "archive")
    museum.jobs.cancel_job(ADMIN, archived)
    museum.unarchive()
    assert not any(museum.files().values())
    museum.jobs.resume_job(ADMIN, archived)
    museum.hands.now += timedelta(minutes=5)
    job = museum.work_off(archived)
    assert job.state == "failed"
    assert "statue" in job.problems[0]
    assert not any(museum.files().values())
    assert pages(tables) == 0


def test_pages_that_a_cancelled_return_left_come_back_after_the_next_archiving(
    museum: Lifecycle, tables: Tables
) -> None:
    put_files(museum, 10)
    museum.archive()
    museum.jobs.cancel_job(ADMIN, half(museum, "unarchive"))
    assert sum(museum.files().values()) not in {0, 10}
    museum.archive()
    assert all(museum.files().values())
    museum.unarchive()
    assert not any(museum.files().values())
    assert pages(tables) == 0


@pytest.mark.parametrize("stopped", ["archive", "unarchive"])
def test_the_next_change_waits_for_the_step_that_a_cancelled_job_is_amid(
    museum: Lifecycle, tables: Tables, monkeypatch: pytest.MonkeyPatch, stopped: str
) -> None:
    museum.gallery.put("/a.glb")
    following = "unarchive"
    if stopped == "unarchive":
        museum.archive()
        following = "archive"
    started: list[str] = []

    def cancel() -> None:
        museum.jobs.cancel_job(ADMIN, museum.stored.lifecycle_job_id or "")
        started.append(museum.change(following))

    interrupt(monkeypatch, type(museum.objects), "delete_many", cancel)
    museum.change(stopped)
    museum.hands.now += timedelta(minutes=5)
    assert museum.work_off(started[0]).state == "done"
    assert museum.files() == {"/a.glb": following == "archive"}
    if following == "archive":
        museum.unarchive()
    assert museum.files() == {"/a.glb": False}
    assert pages(tables) == 0


def test_a_store_that_keeps_a_marker_which_it_removed_ends_the_job(
    museum: Lifecycle,
) -> None:
    museum.gallery.put("/a.glb")
    museum.archive()
    with patch.object(type(museum.objects), "delete_many"):
        job = museum.jobs.find(museum.unarchive())
    assert job is not None
    assert job.state == "failed"
    assert "s3://assetbucket/statue/a.glb" in job.problems[-1]
    museum.jobs.resume_job(ADMIN, job.job_id)
    assert museum.work_off(job.job_id).state == "done"
    assert museum.files() == {"/a.glb": False}


def another_has_the_job(museum: Lifecycle, job_id: str | None = None) -> None:
    """The lease ends, and another worker completes the job of this one."""
    museum.hands.now += timedelta(minutes=5)
    assert museum.work_off(job_id or museum.stored.lifecycle_job_id or "").state == "done"


def test_a_worker_that_wakes_up_late_shows_no_file_of_an_asset_archived_again(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    museum.archive()

    def archive_again() -> None:
        another_has_the_job(museum)
        museum.archive()

    interrupt(monkeypatch, type(museum.objects), "delete_many", archive_again, after=True)
    museum.unarchive()
    assert museum.stored.is_archived
    assert museum.files() == {"/a.glb": True}


def test_a_worker_that_wakes_up_late_hides_no_file_of_an_asset_that_was_restored(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    museum.gallery.put("/b.glb")

    def restore() -> None:
        another_has_the_job(museum)
        museum.unarchive()
        museum.hide("/b.glb")

    interrupt(monkeypatch, type(museum.objects), "delete_many", restore)
    museum.archive()
    assert not museum.stored.is_archived
    assert museum.files() == {"/a.glb": False, "/b.glb": True}


@pytest.mark.parametrize("part", ["files", "links"])
def test_a_worker_that_wakes_up_late_deletes_nothing_of_the_next_asset_of_the_id(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    job_id = museum.delete()
    museum.gallery.put("/a.glb")

    def create_again() -> None:
        another_has_the_job(museum, job_id)
        created_asset(museum.gallery.assets)
        museum.gallery.put("/a.glb", b"anew")

    if part == "files":
        interrupt(monkeypatch, type(museum.objects), "list_versions", create_again)
    else:  # between two parts
        interrupt(monkeypatch, AssetLinkService, "remove_links", create_again, after=True)
    museum.work_off(job_id)
    assert museum.files() == {"/a.glb": False}
    rows = museum.gallery.files.files.list_versions(museum.gallery.asset, limit=5)
    assert [row.asset_version_id for row in rows] == ["0"]
