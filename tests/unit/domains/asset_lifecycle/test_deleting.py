"""Deleting an asset permanently; requests that are refused, or meet at the same asset."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.identity import Identity
from backend.core.objects import Objects, VersionPage
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.core.transactions import Item, Put
from backend.domains.assets.errors import AssetNotFoundError, AssetRevisionError
from backend.domains.assets.models import CreateAssetBody, UpdateAssetBody
from backend.spec import keys
from backend.spec.tables import TABLES, assets, metadata, operations, registry, workflows
from backend.spec.tables.model import Table
from tests.factories.assets import ADMIN, created_asset
from tests.factories.audit import entries
from tests.factories.files import BUCKET, PARAMETERS, PATH
from tests.factories.http import Client
from tests.factories.lifecycle import AUXILIARY, Lifecycle, interrupt, kill, lifecycle
from tests.factories.metadata import metadata_router, metadata_service
from tests.unit.domains.metadata.calls import record
from tests.unit.domains.uploads.calls import sent

STAYING = {
    *("DatabaseStorageTable", "S3AssetBucketsStorageTable", "TagStorageTable"),
    *("TagTypeStorageTable", "Jobs", "Audit", "AssetHistoryStorageTable"),
}
"""Tables with rows that do not belong to the asset, or that record its deletion."""


def rows(tables: Tables, table: Table) -> list[Item]:
    return list(tables.scan(table, PageRequest(1000)).items)


def left(tables: Tables) -> dict[str, list[Item]]:
    """The rows that are left by table, without counts of databases and of rates."""
    rest: dict[str, list[Item]] = {}
    for table in TABLES:
        for row in () if table.name in STAYING else rows(tables, table):
            if not str(row.get("reservationKey", "")).startswith(("AssetCount#", "Rate#")):
                rest.setdefault(table.name, []).append(row)
    return rest


def put(tables: Tables, table: Table, **item: Any) -> None:
    tables.write(Put(table=table, item=item))


def describe(tables: Tables, path: str, number: int = 1) -> None:
    """Metadata and attributes at a path, as rows."""
    file = keys.FILE.build("museum", "statue", path)
    for n in range(number):
        key = {keys.FILE.name: file, keys.ASSET.name: "museum:statue"}
        put(tables, metadata.ASSET_FILE_METADATA, metadataKey=f"m{n}", metadataValue="v", **key)
        put(tables, metadata.FILE_ATTRIBUTES, attributeKey=f"a{n}", attributeValue="v", **key)


def furnish(museum: Lifecycle, tables: Tables) -> None:
    """Whatever can belong to an asset, some of it more than one step deals with."""
    for number in range(4):
        museum.gallery.put(f"/parts/{number}.glb")
        museum.gallery.put(f"/parts/{number}.glb", b"second")
    museum.hide("/parts/0.glb")
    put_object(museum.objects, BUCKET, "previews/statue/front.png")
    for number in range(4):
        put_object(museum.objects, AUXILIARY, f"statue/octree/{number}.bin")
    put_object(museum.objects, AUXILIARY, "previews/statue/views/5f0c.json")
    describe(tables, "/", 300)
    describe(tables, "/parts/1.glb")
    asset = {keys.ASSET.name: "museum:statue"}
    version = {keys.ASSET_VERSION.name: "museum:statue:1", **asset}
    put(tables, assets.ASSET_VERSIONS, assetVersionId="1", comment="first", **asset)
    put(tables, assets.ASSET_FILE_VERSIONS, fileKey="/parts/1.glb", versionId="x", **version)
    snapshot = {keys.SNAPSHOT.name: keys.SNAPSHOT.build("metadata", "/", "m0")}
    put(tables, assets.ASSET_FILE_METADATA_VERSIONS, **snapshot, **version)
    put(tables, metadata.RECORD_SETS, owner="museum:statue", recordsOf="m/", count=300)
    put(tables, assets.ARCHIVED_FILES, page="000000000001-000000", paths=["x"], **asset)
    execution = {keys.WORKFLOW.name: "museum:convert", "workflowId": "convert"}
    put(tables, workflows.WORKFLOW_EXECUTIONS, executionId="e1", **execution, **asset)
    for partition in ("statue", "statue#deleted"):
        comment = {"assetId": partition, keys.COMMENT.name: "1:c1"}
        put(tables, registry.COMMENTS, commentBody="nice", **comment)
    subscribed = {"eventName": "Asset Version Change", keys.SUBSCRIBED_ENTITY.name: "Asset_statue"}
    put(tables, registry.SUBSCRIPTIONS, subscribers=["a@b.c"], **subscribed)
    sent(museum.gallery, {"/open.glb": b"glTF" + bytes(60), "/other.glb": b"glTF" + bytes(60)})
    s3().create_multipart_upload(Bucket=BUCKET, Key="statue/foreign.bin")


def put_object(objects: Objects, bucket: str, key: str) -> None:
    objects.put(bucket, key, b"x", content_type="text/plain", metadata={})


def everything(museum: Lifecycle, bucket: str = BUCKET) -> list[str]:
    """Keys of all versions, markers and multipart uploads of a bucket."""
    client = s3()
    versions = client.list_object_versions(Bucket=bucket)
    uploads = client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
    result = [*versions.get("Versions", []), *versions.get("DeleteMarkers", []), *uploads]
    return sorted(str(entry.get("Key")) for entry in result)


@pytest.mark.parametrize("state", ["active", "archived"])
def test_nothing_of_a_deleted_asset_is_left_and_its_neighbours_keep_all(
    museum: Lifecycle, tables: Tables, state: str
) -> None:
    created_asset(museum.gallery.assets, "statue-2")
    kept = ("statue-2/a.glb", "previews/statue-2/front.png", "statues.txt")
    for key in kept:
        put_object(museum.objects, BUCKET, key)
    put_object(museum.objects, AUXILIARY, "statue-2/octree/1.bin")
    neighbour = keys.FILE.build("museum", "statue-2", "/")
    row = {keys.FILE.name: neighbour, keys.ASSET.name: "museum:statue-2"}
    put(tables, metadata.ASSET_FILE_METADATA, metadataKey="m0", **row)
    before = {
        table: rows
        for table, all_rows in left(tables).items()
        if (rows := [row for row in all_rows if "statue-2" in str(row)])
    }
    furnish(museum, tables)
    if state == "archived":
        museum.work_off(museum.archive())
    museum.hands.now += timedelta(hours=1)
    job_id = museum.delete(reason="broken")
    assert museum.asset() is None
    entry = [e for e in entries(tables) if e["entity"] == "asset:museum:statue"][-1]
    assert entry["operation"] == "delete_asset"
    assert entry["changes"]["assetName"] == {"before": "A statue"}
    assert entry["changes"]["deletedReason"] == {"after": "broken"}
    job = museum.work_off(job_id)
    assert (job.state, job.problems) == ("done", [])
    assert left(tables) == before
    assert everything(museum) == sorted(kept)
    assert everything(museum, AUXILIARY) == ["statue-2/octree/1.bin"]


def test_an_id_is_free_again_when_the_job_has_ended_and_not_before(museum: Lifecycle) -> None:
    job_ids: set[str] = set()
    for _ in range(2):
        museum.gallery.put("/a.glb")
        job_ids |= {museum.archive(), museum.unarchive(), job_id := museum.delete()}
        with pytest.raises(Exception, match="already in use"):
            created_asset(museum.gallery.assets)
        assert museum.refused("delete") == (404, "AssetNotFound")
        museum.work_off(job_id)
        museum.hands.now += timedelta(days=1)
        again = created_asset(museum.gallery.assets)
        assert (again.revision, museum.files()) == (1, {})
    assert len(job_ids) == 6


def test_a_last_step_that_is_repeated_leaves_the_next_asset_of_the_id_alone(
    museum: Lifecycle, tables: Tables
) -> None:
    job_id = museum.delete()
    while True:
        job = museum.jobs.find(job_id)
        assert job is not None
        museum.work(job_id)
        now = museum.jobs.find(job_id)
        assert now is not None
        if now.is_finished:
            break
        museum.hands.now += timedelta(hours=1)
    created_asset(museum.gallery.assets)
    museum.gallery.put("/new.glb")
    progress = museum.deletes.delete(job)  # by a worker that died before it was noted
    assert progress.finished
    assert museum.asset() is not None
    assert museum.files() == {"/new.glb": False}
    reserved = {item["reservationKey"] for item in rows(tables, operations.RESERVATIONS)}
    assert "AssetId#statue" in reserved


def test_what_lands_late_is_removed_by_the_second_sweep(museum: Lifecycle, tables: Tables) -> None:
    museum.gallery.put("/a.glb")
    upload_id, done = sent(museum.gallery, {"/late.glb": b"glTF" + bytes(60)})
    job_id = museum.delete()
    assert museum.gallery.complete(upload_id, *done).status == 404
    job = museum.work(job_id)
    assert job is not None
    assert not job.is_finished  # it waits for what lags
    assert job.cursor["sweep"] == 1
    museum.gallery.put("/late.glb")
    describe(tables, "/late.glb")
    put_object(museum.objects, AUXILIARY, "statue/late.bin")
    assert museum.work(job_id) is None  # before the wait is over nobody goes on
    assert museum.work_off(job_id).state == "done"
    assert left(tables) == {}
    assert everything(museum) == everything(museum, AUXILIARY) == []


@pytest.mark.parametrize("key", ["statue/a.glb", "previews/statue/a.png"])
def test_a_deletion_ends_where_the_store_keeps_what_was_removed(
    museum: Lifecycle, key: str
) -> None:
    put_object(museum.objects, BUCKET, key)
    job_id = museum.delete()
    # It answers as if all were gone.
    with patch.object(type(museum.objects), "delete_many", side_effect=[None] * 9):
        job = museum.work_off(job_id)
    assert job.state == "failed"
    assert f"s3://{BUCKET}/{key} (version " in job.problems[0]
    museum.jobs.resume_job(ADMIN, job_id)
    assert museum.work_off(job_id).state == "done"
    assert everything(museum) == []


def test_a_deletion_ends_where_the_store_lists_a_key_that_it_does_not_keep(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_object(museum.objects, BUCKET, "statue/a~.txt")
    kind, listed = type(museum.objects), type(museum.objects).list_versions
    pages: list[None] = []

    def garbled(*args: Any, **options: Any) -> VersionPage:
        """As the local store does with characters that XML has not."""
        pages.append(None)
        assert len(pages) < 20, "it goes on for ever"
        page = listed(*args, **options)
        versions = [
            version._replace(key=version.key.replace("~", "?")) for version in page.versions
        ]
        return page._replace(versions=tuple(versions))

    job_id = museum.delete()
    monkeypatch.setattr(kind, "list_versions", garbled)
    job = museum.work_off(job_id)
    assert job.state == "failed"
    assert f"s3://{BUCKET}/statue/a?.txt (version " in job.problems[0]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_that_dies_at_any_page_is_followed_by_one_that_finishes(
    museum: Lifecycle, tables: Tables, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    furnish(museum, tables)
    museum.gallery.put("/ä 1.glb")
    versions = museum.objects.list_versions(BUCKET, "statue/").versions
    wanted = {("museum", "statue", version.key) for version in versions}
    kill(monkeypatch, type(museum.objects), "delete_many", times=5, after=when == "after")
    assert museum.work_off_deaths(museum.delete()).state == "done"
    assert left(tables) == {}
    assert everything(museum) == everything(museum, AUXILIARY) == []
    # nothing names them once the files are gone
    assert wanted | {("museum", "statue")} <= museum.reindexing.built


def test_links_go_and_the_other_ends_count_one_less(museum: Lifecycle, tables: Tables) -> None:
    for asset_id in ("plinth", "hall", "twin", "gone"):
        created_asset(museum.gallery.assets, asset_id)
    kept = museum.link("hall", "plinth")
    for source, target in (("statue", "plinth"), ("hall", "statue"), ("statue", "gone")):
        museum.link(source, target)
    museum.link("statue", "twin", "related")
    museum.link("gone", "statue", "related")
    for row in rows(tables, assets.ASSET_LINKS):
        put(tables, assets.ASSET_LINKS_METADATA, assetLinkId=row["assetLinkId"], metadataKey="why")
    tables.delete_many(assets.ASSETS, [{"databaseId": "museum", "assetId": "gone"}])
    museum.service.archive_asset(ADMIN, "museum", "twin")
    museum.work_off(museum.delete())
    counts = {
        name: (asset.child_count, asset.parent_count, asset.related_count)
        for name in ("plinth", "hall", "twin", "gone")
        if (asset := museum.gallery.assets.find_asset("museum", name)) is not None
    }
    assert counts == {"plinth": (0, 1, 0), "hall": (1, 0, 0), "twin": (0, 0, 0)}
    assert [row["assetLinkId"] for row in rows(tables, assets.ASSET_LINKS)] == [kept]
    assert [row["assetLinkId"] for row in rows(tables, assets.ASSET_LINKS_METADATA)] == [kept]
    edges = [row for row in rows(tables, assets.ASSET_LINK_EDGES) if row["edge"] != "revision"]
    assert [row["assetLinkId"] for row in edges] == [kept, kept]
    places = {row["databaseId:assetId"] for row in rows(tables, assets.ASSET_LINK_EDGES)}
    assert "museum:statue" not in places


def test_a_folder_that_held_the_asset_counts_one_less(tables: Tables, objects: S3Objects) -> None:
    museum = lifecycle(tables, objects)
    put_object(objects, BUCKET, "scans/hall/a.e57")
    put_object(objects, BUCKET, "scans/yard/a.e57")
    for name in ("hall", "yard"):
        body = CreateAssetBody(
            database_id="museum",
            asset_id=name,
            asset_name=name,
            description="Scanned",
            is_distributable=True,
            bucket_existing_key=f"scans/{name}",
        )
        museum.gallery.assets.create_asset(ADMIN, body)
    museum.work_off(museum.service.delete_asset(ADMIN, "museum", "hall").job.job_id)
    counts = [r for r in rows(tables, operations.RESERVATIONS) if "within" in r]
    counted = {row["reservationKey"].split("#")[-1]: row["within"] for row in counts}
    assert counted == {"scans/": 1}
    museum.work_off(museum.service.delete_asset(ADMIN, "museum", "yard").job.job_id)
    assert [r for r in rows(tables, operations.RESERVATIONS) if "within" in r] == []


CONFIRMATIONS = {
    "archive": "confirmArchive",
    "unarchive": "confirmUnarchive",
    "delete": "confirmPermanentDelete",
}
NEEDED = sorted(CONFIRMATIONS.keys() - {"archive"})


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        *((name, {}) for name in NEEDED),
        *(
            (name, {field: value})
            for name, field in CONFIRMATIONS.items()
            for value in (None, False, "true", 1)
        ),
    ],
)
def test_what_is_not_confirmed_is_refused_by_the_field(
    museum: Lifecycle, operation: str, body: dict[str, Any]
) -> None:
    answer = museum.send(operation, **body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, CONFIRMATIONS[operation])
    assert museum.stored.revision == 1


@pytest.mark.parametrize("operation", CONFIRMATIONS)
def test_an_asset_that_was_changed_since_it_was_read_is_not_overwritten(
    museum: Lifecycle, operation: str
) -> None:
    if operation == "unarchive":
        museum.archive()
    before = museum.stored
    confirmed: dict[str, Any] = {CONFIRMATIONS[operation]: True}
    stale = museum.send(operation, revision=before.revision + 1, **confirmed)
    assert (stale.status, stale.body["code"]) == (412, "AssetRevisionConflict")
    assert museum.asset() == before
    assert museum.send(operation, revision=before.revision, **confirmed).status == 200


@pytest.mark.parametrize("operation", CONFIRMATIONS)
@pytest.mark.parametrize("reason", ["x" * 257, 5, "\ud800"])
def test_a_reason_that_is_too_long_or_no_text_is_refused(
    museum: Lifecycle, operation: str, reason: object
) -> None:
    body: dict[str, Any] = {CONFIRMATIONS[operation]: True, "reason": reason}
    answer = museum.send(operation, **body)
    assert answer.status == 400
    if reason != "\ud800":
        assert answer.body["errors"][0]["field"] == "reason"


@pytest.mark.parametrize("operation", NEEDED)
def test_a_request_without_a_body_is_refused(museum: Lifecycle, operation: str) -> None:
    client = Client(museum.router)
    method = "PUT" if operation == "unarchive" else "DELETE"
    answer = client.send(method, f"{PATH}/{operation}Asset", parameters=PARAMETERS)
    assert answer.status == 400


@pytest.mark.parametrize("body", [None, "", {}, {"reason": "lost"}])
def test_an_archiving_needs_no_body_and_no_confirmation(museum: Lifecycle, body: object) -> None:
    client = Client(museum.router)
    answer = client.send("DELETE", f"{PATH}/archiveAsset", parameters=PARAMETERS, body=body)
    assert (answer.status, answer.body["operation"]) == (200, "archive")
    reason = "lost" if body else museum.stored.archived_reason
    assert (museum.stored.is_archived, museum.stored.archived_reason) == (True, reason)


def test_what_is_archived_cannot_be_archived_nor_what_is_active_restored(
    museum: Lifecycle,
) -> None:
    assert museum.refused("unarchive") == (409, "AssetActive")
    museum.archive()
    assert museum.refused("archive") == (409, "AssetArchived")


@pytest.mark.parametrize("operation", CONFIRMATIONS)
def test_strangers_change_nothing(museum: Lifecycle, operation: str) -> None:
    answer = museum.send(operation, user_id="stranger", **{CONFIRMATIONS[operation]: True})
    assert answer.status == 403
    with pytest.raises(AssetNotFoundError):
        museum.service.archive_asset(Identity("stranger"), "museum", "statue")


def before_the_write(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, do: Callable[[], Any]
) -> None:
    """Do something once, when the next request has read the asset and is about to write."""
    interrupt(monkeypatch, type(museum.service.repository), "commit", do)


def test_of_two_changes_at_once_one_learns_that_it_came_late(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    before_the_write(museum, monkeypatch, museum.archive)
    assert museum.refused("archive") == (409, "AssetArchived")
    museum.unarchive()
    assert museum.files() == {"/a.glb": False}
    before_the_write(museum, monkeypatch, museum.delete)
    assert museum.refused("archive") == (404, "AssetNotFound")


def test_an_edit_that_meets_an_archiving_is_not_lost(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename() -> None:
        body = UpdateAssetBody(asset_name="Renamed")
        museum.gallery.assets.update_asset(ADMIN, "museum", "statue", body)

    before_the_write(museum, monkeypatch, rename)
    museum.archive()
    asset = museum.stored
    assert (asset.asset_name, asset.is_archived, asset.inherited_revision) == ("Renamed", True, 3)


@pytest.mark.parametrize("operation", ["archive", "delete"])
def test_a_change_that_others_overtake_again_and_again_ends_within_its_time(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    attempts: list[datetime] = []

    def overtaken(*_: object) -> None:
        attempts.append(museum.hands.now)
        museum.hands.now += timedelta(seconds=1)
        raise AssetRevisionError("statue")

    monkeypatch.setattr(type(museum.service.repository), "commit", overtaken)
    confirmed: dict[str, Any] = {CONFIRMATIONS[operation]: True}
    answer = museum.send(operation, **confirmed)
    assert (answer.status, answer.body["code"]) == (412, "AssetRevisionConflict")
    assert len(attempts) == 2


def test_a_deletion_that_meets_an_archiving_deletes_what_is_archived(
    museum: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.gallery.put("/a.glb")
    before_the_write(museum, monkeypatch, museum.archive)
    job_id = museum.delete()
    assert museum.asset() is None
    assert museum.work_off(job_id).state == "done"
    assert museum.files() == {}
    museum.gallery.assets.databases.delete_database(ADMIN, "museum")  # the count is 0


def test_an_asset_of_a_deleted_database_cannot_be_restored_but_deleted(
    museum: Lifecycle,
) -> None:
    museum.archive()
    museum.gallery.assets.databases.delete_database(ADMIN, "museum")
    assert museum.refused("unarchive") == (400, "DatabaseDeleted")
    assert museum.work_off(museum.delete()).state == "done"


def test_what_ends_after_the_archiving_neither_revives_the_asset_nor_is_lost(
    museum: Lifecycle, tables: Tables, objects: S3Objects
) -> None:
    upload_id, done = sent(museum.gallery, {"/late.glb": b"glTF" + bytes(60)})
    museum.archive()
    assert museum.gallery.complete(upload_id, *done).status == 404
    announced = {"relativeKey": "/a.glb", "file_size": 10}
    assert museum.gallery.initialise(announced).status == 404  # nor does another upload begin
    client = Client(metadata_router(metadata_service(museum.gallery.assets, tables, objects)))
    body = {"metadata": [record("maker")]}
    for method in ("POST", "PUT"):
        answer = client.send(method, f"{PATH}/metadata", parameters=PARAMETERS, body=body)
        assert answer.status == 404
    assert museum.stored.is_archived
    assert museum.files() == {}
    museum.unarchive()
    assert museum.gallery.complete(upload_id, *done).status == 200
    assert museum.files() == {"/late.glb": False}
