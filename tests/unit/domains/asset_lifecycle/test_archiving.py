"""Archiving an asset and bringing it back: the row at once, the files by a job."""

from datetime import timedelta

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import ObjectHead
from backend.core.paging import PageRequest
from backend.core.tables import Query, Tables
from backend.domains.assets.routes import build_router
from backend.spec.tables.assets import ARCHIVED_FILES
from tests.factories.assets import ADMIN
from tests.factories.audit import entries
from tests.factories.files import BUCKET, PARAMETERS, PATH
from tests.factories.http import Client, Response
from tests.factories.lifecycle import KilledError, Lifecycle, lifecycle

ODD = ("/with blank.glb", "/a+b%20ä.glb", "/日本/😀.obj")


def get(museum: Lifecycle, **query: str) -> Response:
    client = Client(build_router(museum.gallery.assets))
    return client.send("GET", PATH, parameters=PARAMETERS, query=query)


def listed(museum: Lifecycle, **query: str) -> list[str]:
    client = Client(build_router(museum.gallery.assets))
    parameters = {"databaseId": "museum"}
    answer = client.send("GET", "/database/museum/assets", parameters=parameters, query=query)
    return [item["assetId"] for item in answer.body["Items"]]


def count(museum: Lifecycle) -> int:
    found = museum.gallery.assets.databases.databases.get_counted("museum")
    return -1 if found is None else found.asset_count


def pages(tables: Tables) -> int:
    query = Query(table=ARCHIVED_FILES, partition="museum:statue")
    return len(tables.query_all(query))


def test_an_archived_asset_is_only_shown_on_request(museum: Lifecycle) -> None:
    answer = museum.send("archive", confirmArchive=True, reason="sold")
    assert answer.status == 200, answer.body
    assert (answer.body["operation"], answer.body["assetId"]) == ("archive", "statue")
    assert (answer.body["success"], answer.body["jobState"]) == (True, "done")
    assert (get(museum).status, listed(museum)) == (404, [])
    body = get(museum, showArchived="true").body
    assert (body["status"], body["archivedBy"], body["archivedReason"]) == (
        "archived",
        "admin",
        "sold",
    )
    assert body["archivedAt"] == answer.body["timestamp"]
    assert listed(museum, showArchived="true") == ["statue"]


def test_an_asset_that_was_restored_is_as_it_was(museum: Lifecycle) -> None:
    before = museum.asset()
    museum.archive(reason="sold")
    museum.unarchive()
    after = museum.asset()
    assert before is not None
    assert after is not None
    changed = {"revision", "inherited_revision", "updated_at", "lifecycle_job_id"}
    assert after.model_dump(exclude=changed) == before.model_dump(exclude=changed)
    assert (after.revision, after.inherited_revision) == (3, 3)


def test_archiving_counts_the_asset_out_and_bringing_it_back_counts_it_in(
    museum: Lifecycle,
) -> None:
    counts = [count(museum)]
    for operation in ("archive", "unarchive"):
        museum.change(operation)
        counts.append(count(museum))
    assert counts == [1, 0, 1]


@pytest.mark.parametrize("number", [0, 1, 3, 7])
def test_all_files_follow_their_asset_and_come_back(museum: Lifecycle, number: int) -> None:
    versions = {f"/parts/{n}.glb": museum.gallery.put(f"/parts/{n}.glb") for n in range(number)}
    museum.archive()
    assert museum.files() == dict.fromkeys(versions, True)
    museum.unarchive()
    assert museum.files() == dict.fromkeys(versions, False)
    for path, version_id in versions.items():
        head = museum.objects.head(BUCKET, "statue" + path)
        assert isinstance(head, ObjectHead)
        assert head.version.version_id == version_id


def test_names_with_blanks_plus_and_unicode_follow_too(museum: Lifecycle) -> None:
    for path in ODD:
        museum.gallery.put(path)
    museum.archive()
    assert museum.files() == dict.fromkeys(ODD, True)
    museum.unarchive()
    assert museum.files() == dict.fromkeys(ODD, False)


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
    museum.unarchive()
    assert museum.files() == {"/a.glb": False, "/b.glb": True, "/c.glb": True, "/d.glb": False}
    assert pages(tables) == 0


def test_an_asset_of_which_all_files_were_archived_takes_none_and_restores_none(
    museum: Lifecycle, tables: Tables
) -> None:
    museum.gallery.put("/a.glb")
    museum.hide("/a.glb")
    museum.archive()
    assert pages(tables) == 0
    museum.unarchive()
    assert museum.files() == {"/a.glb": True}


def test_rebuilds_of_the_documents_of_asset_and_files_are_requested(museum: Lifecycle) -> None:
    museum.gallery.put("/a b.glb")
    museum.archive()
    assert ("museum", "statue", "/a b.glb") in museum.reindexing.built
    found = museum.asset()
    assert found is not None
    assert found.inherited_revision == 2  # of this the stream makes a fan-out over all files


def test_a_request_begins_no_step_after_its_time_and_the_worker_continues(
    museum: Lifecycle,
) -> None:
    for number in range(20):
        museum.gallery.put(f"/{number:02}.glb")
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
    for number in range(6):
        museum.gallery.put(f"/{number}.glb")
    late = iter(["/00-late.glb"])
    delete_many = type(museum.objects).delete_many

    def with_upload(objects: S3Objects, *args: object) -> None:
        delete_many(objects, *args)  # type: ignore[arg-type]
        for path in late:
            museum.gallery.put(path)

    monkeypatch.setattr(type(museum.objects), "delete_many", with_upload)
    museum.archive()
    assert museum.files()["/00-late.glb"]
    museum.unarchive()
    assert not any(museum.files().values())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("operation", ["archive", "unarchive"])
def test_a_worker_that_dies_at_any_page_leaves_what_the_next_one_finishes(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, operation: str, when: str
) -> None:
    paths = [f"/{number}.glb" for number in range(8)]
    for path in paths:
        museum.gallery.put(path)
    museum.gallery.put("/own.glb")
    museum.hide("/own.glb")
    if operation == "unarchive":
        museum.archive()
    delete_many = type(museum.objects).delete_many
    deaths = iter(range(4))

    def dying(objects: S3Objects, *args: object) -> None:
        if when == "after":
            delete_many(objects, *args)  # type: ignore[arg-type]
        if next(deaths, None) is not None:
            raise KilledError
        if when == "before":
            delete_many(objects, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(type(museum.objects), "delete_many", dying)
    with pytest.raises(KilledError):
        museum.change(operation)
    asset = museum.asset()
    assert asset is not None
    assert asset.lifecycle_job_id is not None
    job = None
    while job is None or not job.is_finished:
        museum.hands.now += timedelta(minutes=5)
        try:
            job = museum.work(asset.lifecycle_job_id)
        except KilledError:
            continue
    assert job.state == "done"
    hidden = operation == "archive"
    assert museum.files() == {**dict.fromkeys(paths, hidden), "/own.glb": True}
    if operation == "archive":
        museum.unarchive()
        assert museum.files() == {**dict.fromkeys(paths, False), "/own.glb": True}


def test_a_file_that_was_hidden_twice_comes_back(museum: Lifecycle) -> None:
    museum.gallery.put("/a.glb")
    museum.archive()
    museum.hide("/a.glb")  # a request that S3 carried out twice
    museum.unarchive()
    assert museum.files() == {"/a.glb": False}


def test_a_cancelled_archiving_continues_when_it_is_resumed(museum: Lifecycle) -> None:
    for number in range(10):
        museum.gallery.put(f"/{number}.glb")
    museum.hands.tick = timedelta(milliseconds=200)
    job_id = museum.archive()
    museum.hands.tick = timedelta(0)
    assert museum.refused("unarchive") == (409, "AssetBusy")
    museum.jobs.cancel_job(ADMIN, job_id)
    assert museum.work_off(job_id).state == "cancelled"
    assert not all(museum.files().values())
    museum.jobs.resume_job(ADMIN, job_id)
    museum.hands.now += timedelta(minutes=5)
    assert museum.work_off(job_id).state == "done"
    assert all(museum.files().values())


def test_what_a_cancelled_archiving_took_comes_back(museum: Lifecycle, tables: Tables) -> None:
    for number in range(10):
        museum.gallery.put(f"/{number}.glb")
    museum.hands.tick = timedelta(milliseconds=200)
    archived = museum.archive()
    museum.hands.tick = timedelta(0)
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
    for number in range(10):
        museum.gallery.put(f"/{number}.glb")
    museum.archive()
    museum.hands.tick = timedelta(milliseconds=200)
    museum.jobs.cancel_job(ADMIN, museum.unarchive())
    museum.hands.tick = timedelta(0)
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
    delete_many = type(museum.objects).delete_many
    moments, started = iter([True]), list[str]()

    def slow(objects: S3Objects, *args: object) -> None:
        if next(moments, False):
            asset = museum.asset()
            assert asset is not None
            assert asset.lifecycle_job_id is not None
            museum.jobs.cancel_job(ADMIN, asset.lifecycle_job_id)
            started.append(museum.change(following))
        delete_many(objects, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(type(museum.objects), "delete_many", slow)
    museum.change(stopped)
    museum.hands.now += timedelta(minutes=5)
    assert museum.work_off(started[0]).state == "done"
    assert museum.files() == {"/a.glb": following == "archive"}
    if following == "archive":
        museum.unarchive()
    assert museum.files() == {"/a.glb": False}
    assert pages(tables) == 0


def test_a_base_prefix_of_the_bucket_makes_no_difference(
    tables: Tables, objects: S3Objects
) -> None:
    museum = lifecycle(tables, objects, base_prefix="base/")
    museum.gallery.put("/a.glb")
    museum.archive()
    assert museum.files() == {"/a.glb": True}
    museum.unarchive()
    assert museum.files() == {"/a.glb": False}


def test_each_change_is_one_entry_of_the_audit_trail(museum: Lifecycle, tables: Tables) -> None:
    museum.hands.now += timedelta(seconds=1)
    museum.archive(reason="sold")
    museum.hands.now += timedelta(seconds=1)
    museum.change("unarchive", reason="bought back")
    archived, returned = [e for e in entries(tables) if e["entity"] == "asset:museum:statue"][-2:]
    assert archived["operation"] == "archive_asset"
    assert archived["changes"]["status"] == {"before": "active", "after": "archived"}
    assert archived["changes"]["archivedReason"] == {"after": "sold"}
    assert returned["operation"] == "unarchive_asset"
    assert returned["changes"]["unarchivedReason"] == {"after": "bought back"}


def test_an_archived_page_holds_relative_paths_only(museum: Lifecycle, tables: Tables) -> None:
    museum.gallery.put("/parts/a.glb")
    museum.archive()
    query = Query(table=ARCHIVED_FILES, partition="museum:statue")
    (row,) = tables.query(query, PageRequest(10)).items
    assert row["paths"] == ["parts/a.glb"]


def test_a_store_that_keeps_a_marker_which_it_removed_ends_the_job(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    museum.archive()

    def keep(*_: object) -> None: ...

    with monkeypatch.context() as patched:
        patched.setattr(type(museum.objects), "delete_many", keep)
        job = museum.jobs.find(museum.unarchive())
    assert job is not None
    assert job.state == "failed"
    assert "s3://assetbucket/statue/a.glb" in job.problems[-1]
    museum.jobs.resume_job(ADMIN, job.job_id)
    assert museum.work_off(job.job_id).state == "done"
    assert museum.files() == {"/a.glb": False}
