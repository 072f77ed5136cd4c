"""Versions of an asset as it is, and of named files, created within requests and by jobs."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.clients import dynamodb, s3
from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.deadlines import OutcomeUnknownError
from backend.core.errors import UnavailableError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Tables
from backend.core.transactions import Update
from backend.domains.asset_versions.service.commands import REQUEST_TIME
from backend.domains.assets.errors import AssetRevisionError
from backend.domains.files.repository import FileChangeRepository
from backend.domains.jobs.models import Job
from backend.domains.metadata.models import Entity, NewRecord
from backend.spec.functions.apis import ASSET_VERSIONS_API
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS, ASSET_FILE_VERSIONS, ASSETS
from benchmarks.metering import metered
from tests.factories.assets import ADMIN
from tests.factories.files import BUCKET
from tests.factories.http import Client
from tests.factories.metadata import metadata_router, metadata_service
from tests.factories.versions import Versions, named, versions
from tests.unit.domains.asset_versions.world import put, put_records
from tests.unit.domains.metadata.calls import record, send

FIELDS = {"success", "message", "assetId", "assetVersionId", "operation", "timestamp"}


def test_a_version_holds_the_files_as_they_are(museum: Versions) -> None:
    files = put(museum, "/a.glb", "/b/ä c.obj")
    put(museum, "/b/", "/a.glb.previewFile.png", "/gone.glb")
    museum.lifecycle.hide("/gone.glb")
    answer = museum.create("the opening", versionAlias="v1")
    assert answer.status == 200, answer.body
    assert answer.body.keys() == FIELDS | {"skippedFiles"}
    output = {name: answer.body[name] for name in ("success", "assetVersionId", "operation")}
    assert output == {"success": True, "assetVersionId": "1", "operation": "create"}
    assert answer.body["skippedFiles"] == []
    assert museum.files("1") == files
    whole = museum.whole("1")
    fields = ("comment", "createdBy", "versionAlias", "fileCount")
    assert [whole[name] for name in fields] == ["the opening", "admin", "v1", 2]
    assert museum.whole("0")["files"] == []  # of the asset without files
    current = museum.asset.current_version
    assert (current.version, current.comment, current.version_alias) == ("1", "the opening", "v1")
    assert (museum.asset.revision, museum.asset.inherited_revision) == (2, 1)
    rows = museum.lifecycle.gallery.list_files().body["items"]
    assert {
        row["currentAssetVersionFileVersionMismatch"] for row in rows if not row["isFolder"]
    } == {False}
    for below in ("getVersion/one", "getVersion/-1"):
        assert museum.send("GET", below).status == 400
    assert museum.send("GET", "getVersion/7").body["code"] == "AssetVersionNotFound"


def test_metadata_and_attributes_are_as_they_were(
    museum: Versions, tables: Tables, objects: S3Objects
) -> None:
    put(museum, "/a/b.glb")
    service = metadata_service(museum.lifecycle.gallery.assets, tables, objects)
    client = Client(metadata_router(service))
    file = "/database/{databaseId}/assets/{assetId}/metadata/file"
    send(client, "POST", body={"metadata": [record("year", "1889")]})
    for kind in ("metadata", "attribute"):
        body = {"metadata": [record("k:%", kind)], "filePath": "/a/b.glb", "type": kind}
        assert send(client, "POST", file, body=body).status == 200
    museum.made(versionAlias="first")
    send(client, "PUT", body={"metadata": [record("year", "1900")]})
    held = museum.whole("1")["versionedMetadata"]
    assert held == [
        {
            "type": kind,
            "filePath": path,
            "metadataKey": key,
            "metadataValue": value,
            "metadataValueType": "string",
        }
        for kind, path, key, value in (
            ("attribute", "/a/b.glb", "k:%", "attribute"),
            ("metadata", "/", "year", "1889"),
            ("metadata", "/a/b.glb", "k:%", "metadata"),
        )
    ]
    for query in ({"assetVersionId": "1"}, {"assetVersionIdAlias": "first"}):
        metadata = send(client, "GET", query=query).body["metadata"]
        assert [item["metadataValue"] for item in metadata] == ["1889"]
    both = {"assetVersionId": "1", "assetVersionIdAlias": "first"}
    assert send(client, "GET", query=both).status == 400
    assert send(client, "GET", query={"assetVersionIdAlias": "none"}).status == 404


@pytest.mark.parametrize("looks", [3, 1000])
def test_a_record_that_the_index_does_not_show_yet_is_waited_for_but_not_without_end(
    museum: Versions, tables: Tables, objects: S3Objects, looks: int
) -> None:
    service = metadata_service(museum.lifecycle.gallery.assets, tables, objects)
    send(Client(metadata_router(service)), "POST", body={"metadata": [record("year")]})
    kind, kinds = type(museum.creation.repository), list[str]()
    real = kind.live_records

    def lag(self: Any, asset: Any, of: Any, page: Any) -> Any:
        kinds.append(of)
        return Page(()) if len(kinds) <= looks else real(self, asset, of, page)

    with patch.object(kind, "live_records", lag):
        assert museum.made() == "1"
    held = [row["metadataKey"] for row in museum.whole("1")["versionedMetadata"]]
    assert held == (["year"] if looks == 3 else [])
    assert looks > 3 or kinds == ["metadata", "attribute"] * 3


def test_named_files_are_held_in_the_versions_that_are_named(museum: Versions) -> None:
    first = put(museum, "/a.glb", "/b.glb", "/c.glb")
    put(museum, "/a.glb", "/new.glb")
    museum.lifecycle.hide("/b.glb")
    gone = museum.lifecycle.gallery.put("/c.glb", b"gone")
    museum.lifecycle.objects.delete_version(BUCKET, "statue/c.glb", version_id=gone)
    files = named({"/a.glb": first["/a.glb"], "b.glb": first["/b.glb"], "/c.glb": gone})
    archived = {"relativeKey": "/d.glb", "versionId": "x", "isArchived": True}
    answer = museum.create(files=[*files, archived])
    assert answer.body["skippedFiles"] == ["/c.glb", "/d.glb"]
    assert museum.files("1") == {"/a.glb": first["/a.glb"], "/b.glb": first["/b.glb"]}
    states = {file["relativeKey"]: file for file in museum.whole("1")["files"]}
    assert states["/b.glb"]["isLatestVersionArchived"] is True
    assert states["/a.glb"]["isPermanentlyDeleted"] is False
    assert states["/a.glb"]["size"] == len("/a.glb")


def test_many_named_files_are_looked_up_page_by_page_and_leave_nothing_behind(
    museum: Versions, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.asset_versions.rules.NAMED_ON_A_PAGE", 2)
    files = put(museum, *(f"/{number}.glb" for number in range(5)))
    museum.made(files=named(files))
    assert museum.files("1") == files
    rows = tables.scan(ASSET_FILE_VERSIONS, PageRequest(100)).items
    assert {row["databaseId:assetId:assetVersionId"] for row in rows} == {"museum:statue:1"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"comment": ""}, "comment"),
        ({"comment": None}, "comment"),
        ({"comment": "x" * 257}, "comment"),
        ({"comment": 5}, "comment"),
        ({"comment": "\ud800"}, None),
        ({"useLatestFiles": False}, "files"),
        ({"useLatestFiles": "true"}, "useLatestFiles"),
        ({"useLatestFiles": True, "files": [{"relativeKey": "/a", "versionId": "1"}]}, "files"),
        ({"versionAlias": "x" * 65}, "versionAlias"),
        ({"versionAlias": "12"}, "versionAlias"),
        ({"versionAlias": " v1"}, "versionAlias"),
    ],
)
def test_what_is_wrong_is_named(museum: Versions, body: dict[str, Any], field: str | None) -> None:
    answer = museum.create(**body)
    assert answer.status == 400
    if field is not None:
        assert answer.body["errors"][0]["field"] == field
    assert len(museum.listed()) == 1


@pytest.mark.parametrize(
    ("files", "field"),
    [
        ([{"relativeKey": "/a.glb"}], "files.0.versionId"),
        ([{"relativeKey": "/../a.glb", "versionId": "1"}], "files.0.relativeKey"),
        (named({"/a": "1"}) * 2, "files.1.relativeKey"),
        (named({"/a.glb.previewFile.png": "1"}), "files.0.relativeKey"),
        (named({f"/{n}": "1" for n in range(10_001)}), "files"),
        ([], "files"),
    ],
)
def test_wrong_files_are_named(museum: Versions, files: list[Any], field: str) -> None:
    answer = museum.create(files=files)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert len(museum.listed()) == 1


def test_an_alias_that_is_taken_at_the_last_moment_leaves_nothing(
    museum: Versions, tables: Tables
) -> None:
    put(museum, "/a.glb")
    museum.made(versionAlias="v1")
    answer = museum.create(versionAlias="v1")
    assert (answer.status, answer.body["code"]) == (409, "VersionAliasTaken")
    assert museum.made() == "2"
    before = len(tables.scan(ASSET_FILE_VERSIONS, PageRequest(100)).items)
    with patch.object(type(museum.creation.repository), "is_alias_taken", return_value=False):
        answer = museum.create(versionAlias="v1")
    assert (answer.status, answer.body["code"]) == (409, "VersionAliasTaken")
    assert len(tables.scan(ASSET_FILE_VERSIONS, PageRequest(100)).items) == before
    assert museum.made() == "4"
    assert [version["Version"] for version in museum.listed()] == ["4", "2", "1", "0"]
    # resumed, it is made from its beginning
    (job,) = (job for job in museum.stored_jobs() if job.state == "failed")
    assert museum.send("PUT", "assetversions/1", body={"versionAlias": "old"}).status == 200
    museum.lifecycle.jobs.resume_job(ADMIN, job.job_id)
    assert museum.work_off(job.job_id).state == "done"
    assert list(museum.files("5")) == ["/a.glb"]
    assert museum.whole("5")["versionAlias"] == "v1"


def test_archived_and_deleted_assets_get_no_version(museum: Versions) -> None:
    museum.lifecycle.archive()
    assert museum.create().status == 404
    museum.lifecycle.delete()
    assert museum.create().status == 404


def test_a_commit_that_others_overtake_again_and_again_is_left_to_the_job(
    museum: Versions,
) -> None:
    files, hands, attempts = put(museum, "/a.glb"), museum.lifecycle.hands, list[datetime]()

    def overtaken(*_: object) -> None:
        attempts.append(hands.now)
        hands.now += timedelta(seconds=1)
        raise AssetRevisionError("statue")

    with patch.object(type(museum.creation.repository), "commit", overtaken):
        answer = museum.create()
    assert (answer.status, answer.body["jobState"], len(attempts)) == (200, "queued", 2)
    museum.lifecycle.hands.now += timedelta(seconds=300)
    done = museum.work_off(answer.body["jobId"])
    assert (done.result or {})["assetVersionId"] == "1"
    assert museum.files("1") == files


def test_a_version_costs_little_more_than_its_rows(dynamo_tables: DynamoTables) -> None:
    client = s3()
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    client.create_bucket(Bucket="auditarchivebucket")
    museum = versions(dynamo_tables, S3Objects(client))
    paths = [f"/parts/part-{number:02}.glb" for number in range(50)]
    put(museum, *paths)
    records = [("/", "metadata", 10)]
    records += [(path, kind, 5) for path in paths for kind in ("metadata", "attribute")]
    put_records(dynamo_tables, records)
    with metered(dynamodb(), client) as usage:
        answer = museum.create(versionAlias="v1")
    assert answer.body["assetVersionId"] == "1"
    assert len(museum.whole("1")["versionedMetadata"]) == 510
    rows = sum(
        units
        for place, units in usage.writes.items()
        if "AssetFileVersions" in place or "AssetFileMetadataVersions" in place
    )
    assert rows == 2 * (50 + 510)  # each row, and its entry in the index by asset
    assert usage.write_units + usage.read_units <= 1.2 * rows
    assert sum(usage.of("s3").values()) <= 2


A_REPLY = timedelta(seconds=29)
STATUE = {"databaseId": "museum", "assetId": "statue"}


def put_numbered(museum: Versions, count: int, body: bytes) -> dict[str, str]:
    paths = [f"/{number:04}.glb" for number in range(count)]
    return {path: museum.lifecycle.gallery.put(path, body) for path in paths}


def slowed(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, seconds: float, *methods: str
) -> None:
    """Let each row that these methods of the repository write take time."""
    kind = type(museum.creation.repository)
    for method in methods:
        whole: Callable[..., Any] = getattr(kind, method)

        def slow(*args: Any, whole: Callable[..., Any] = whole, **more: Any) -> Any:
            rows: Sequence[object] = args[-1]
            museum.lifecycle.hands.now += timedelta(seconds=seconds * len(rows))
            return whole(*args, **more)

        monkeypatch.setattr(kind, method, slow)


def test_a_version_of_500_files_on_a_slow_machine_is_created_within_its_request(
    museum: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_numbered(museum, 500, b"x")
    slowed(museum, monkeypatch, 0.03, "put_files")  # 15 s in all
    answer = museum.create()
    assert answer.body.get("jobId") is None
    assert answer.body["assetVersionId"] == "1"
    assert [item["Version"] for item in museum.listed()] == ["1", "0"]
    assert museum.listed()[0]["fileCount"] == 500


@pytest.mark.parametrize("operation", ["create", "create of named files", "revert"])
def test_a_request_whose_job_still_runs_returns_the_number_of_its_version(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    count = 60 if operation == "revert" else 110
    files = put_numbered(museum, count, b"x")
    if operation == "revert":
        museum.made()
        put_numbered(museum, count, b"y")
    before = len(museum.listed())
    slowed(museum, monkeypatch, 15 / count, "put_files")
    begun = museum.lifecycle.hands.now
    match operation:
        case "revert":
            answer = museum.revert("1")
        case "create":
            answer = museum.create()
        case _:
            answer = museum.create(files=named(files))
    assert museum.lifecycle.hands.now - begun < A_REPLY
    assert (answer.status, answer.body["jobState"]) == (200, "running"), answer.body
    number = answer.body["assetVersionId"]
    assert number == str(before)
    assert number in answer.body["message"]
    assert len(museum.listed()) == before
    done = museum.work_off(answer.body["jobId"])
    assert (done.result or {})["assetVersionId"] == number
    assert museum.listed()[0]["Version"] == number
    assert museum.listed()[0]["fileCount"] == count
    assert operation == "revert" or museum.files(number) == files


def test_the_parts_of_a_small_version_are_one_step_that_no_worker_begins_before_the_request(
    museum: Versions, tables: DynamoTables
) -> None:
    put_numbered(museum, 3, b"x")
    put_records(tables, [("/", "metadata", 2), ("/0000.glb", "attribute", 3)])
    ran: list[Job | None] = []
    kind = type(museum.creation.repository)
    real = kind.start

    def start(*args: Any) -> None:
        real(*args)
        (job,) = museum.stored_jobs()
        ran.append(museum.run_once(job.job_id))

    with patch.object(kind, "start", start):
        assert museum.made() == "1"
    assert ran == [None]
    (job,) = museum.stored_jobs()
    assert job.step == 2  # and the commit
    rows = tables.scan(ASSET_FILE_METADATA_VERSIONS, PageRequest(100)).items
    assert len(rows) == 2 + 3


def test_a_request_that_dies_before_its_first_step_leaves_the_job_to_its_worker(
    museum: Versions,
) -> None:
    put_numbered(museum, 1, b"x")
    run = patch.object(type(museum.creation), "_run", side_effect=KeyboardInterrupt)
    with run, pytest.raises(KeyboardInterrupt):
        museum.create()
    (job,) = museum.stored_jobs()
    assert job.state == "queued"  # so that the stream sends its first message
    assert (museum.work_off(job.job_id).result or {})["assetVersionId"] == "1"


@pytest.mark.parametrize("method", ["start", "put_named"])
@pytest.mark.parametrize("done", [True, False])
def test_the_error_of_an_uncertain_start_names_where_to_look(
    museum: Versions, method: str, *, done: bool
) -> None:
    files = put_numbered(museum, 1, b"x")
    kind = type(museum.creation.repository)
    whole = getattr(kind, method)

    def fails(*args: Any) -> None:
        if done:
            whole(*args)
        raise UnavailableError("DynamoDB does not respond")

    with patch.object(kind, method, fails):
        answer = museum.create(files=named(files))
    assert (answer.status, answer.body["code"]) == (503, "OutcomeUnknown")
    jobs = museum.stored_jobs()
    assert len(jobs) == (done or method == "put_named")
    for job in jobs:
        fact = f"Version 1 may be created all the same: the job {job.job_id}"
        assert fact in answer.body["message"]


@pytest.mark.parametrize("operation", ["create", "revert"])
def test_a_step_that_the_time_of_the_request_ends_leaves_the_rest_to_its_job(
    museum: Versions, operation: str
) -> None:
    put_numbered(museum, 3, b"x")
    if operation == "revert":
        museum.made()
        put_numbered(museum, 3, b"y")
    number = str(len(museum.listed()))
    late = OutcomeUnknownError("too late")
    with patch.object(type(museum.creation.repository), "put_files", side_effect=late):
        answer = museum.create() if operation == "create" else museum.revert("1")
    assert (answer.status, answer.body["assetVersionId"]) == (200, number)
    museum.lifecycle.hands.now += timedelta(seconds=60)
    done = museum.work_off(answer.body["jobId"])
    assert (done.result or {})["assetVersionId"] == number
    assert museum.listed()[0]["fileCount"] == 3


def test_the_function_may_run_for_longer_than_the_job_within_a_request() -> None:
    left = timedelta(seconds=ASSET_VERSIONS_API.timeout_seconds) - REQUEST_TIME
    assert left >= timedelta(seconds=8)  # in which the last step ends


def test_a_revert_notes_the_primary_types_that_it_restores(museum: Versions) -> None:
    body = {"filePath": "/0000.glb", "primaryType": "primary"}
    gallery = museum.lifecycle.gallery
    put_numbered(museum, 2, b"x")
    assert gallery.change("PUT", "setPrimaryFile", body).status == 200
    museum.made()
    put_numbered(museum, 2, b"y")
    # As for an asset whose row does not name the path.
    museum.tables.write(Update(table=ASSETS, key=STATUE, set={"typedFiles": []}))
    assert museum.revert("1").body["assetVersionId"] == "2"
    rows = gallery.list_files().body["items"]
    assert [row["primaryType"] for row in rows] == ["primary", ""]


@pytest.mark.parametrize("end", ["done", "cancelled"])
@pytest.mark.parametrize("operation", ["create", "revert"])
def test_versions_are_made_in_the_order_of_their_replies(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, operation: str, end: str
) -> None:
    files = put_numbered(museum, 60, b"x")
    museum.made("first")
    put_numbered(museum, 60, b"y")
    museum.made("second")
    with monkeypatch.context() as slow:
        slowed(museum, slow, 0.25, "put_files")
        first = museum.revert("1")
        assert first.body["jobState"] == "running", first.body
        put_numbered(museum, 1, b"z")
        second = museum.revert("2") if operation == "revert" else museum.create()
        third = museum.create()
    earlier, later, last = (answer.body["jobId"] for answer in (first, second, third))
    assert [version["Version"] for version in museum.listed()] == ["2", "1", "0"]
    # Their workers come in another order.
    for job_id in (last, later, last):
        museum.lifecycle.hands.now += timedelta(minutes=5)
        job = museum.run_once(job_id)
        assert job is not None
        assert not job.is_finished
    if end == "cancelled":
        museum.lifecycle.jobs.cancel_job(ADMIN, earlier)
    assert museum.work_off(earlier).state == end
    assert [museum.work_off(job_id).state for job_id in (later, last)] == ["done", "done"]
    numbers = [version["Version"] for version in museum.listed()]
    assert numbers == (
        ["5", "4", "3", "2", "1", "0"] if end == "done" else ["5", "4", "2", "1", "0"]
    )
    assert museum.files("5") == museum.files("4")
    assert museum.files("4") != files


def test_a_revert_does_not_restore_metadata_of_a_file_that_is_being_moved(
    museum: Versions, tables: Tables, objects: S3Objects
) -> None:
    put(museum, "/a/b.glb")
    service = metadata_service(museum.lifecycle.gallery.assets, tables, objects)
    entity = Entity("museum", "statue", "/a/b.glb")
    service.add_metadata(ADMIN, entity, [NewRecord(metadata_key="k", metadata_value="v")])
    museum.made()
    service.remove_metadata(ADMIN, entity, ["k"])
    changes = FileChangeRepository(tables)
    changes.commit(museum.asset, changes.state("statue"), "moveFolder.1", [], ["/a/", "/b/"])
    answer = museum.revert("1", revertMetadata=True)
    assert (answer.status, answer.body["code"]) == (409, "FilesBusy")
    changes.release("statue", "moveFolder.1")
    assert museum.revert("1", revertMetadata=True).status == 200
    assert [record.metadata_key for record in service.records.records_of(entity)] == ["k"]
