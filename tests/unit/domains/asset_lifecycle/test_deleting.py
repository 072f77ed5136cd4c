"""Deleting an asset permanently: it is absent at once, and its job leaves nothing of it."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.objects import Objects, VersionPage
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.core.transactions import Item, Put
from backend.domains.assets.models import CreateAssetBody
from backend.spec import keys
from backend.spec.tables import TABLES, assets, metadata, operations, registry, workflows
from backend.spec.tables.model import Table
from tests.factories.assets import ADMIN, created_asset
from tests.factories.audit import entries
from tests.factories.files import BUCKET
from tests.factories.lifecycle import AUXILIARY, Lifecycle, kill, lifecycle
from tests.unit.domains.uploads.calls import sent

STAYING = {
    *("DatabaseStorageTable", "S3AssetBucketsStorageTable", "TagStorageTable"),
    *("TagTypeStorageTable", "Jobs", "Audit"),
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
    found = [*versions.get("Versions", []), *versions.get("DeleteMarkers", []), *uploads]
    return sorted(str(entry.get("Key")) for entry in found)


@pytest.mark.parametrize("state", ["active", "archived"])
def test_nothing_of_a_deleted_asset_is_left(museum: Lifecycle, tables: Tables, state: str) -> None:
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
    assert left(tables) == {}
    assert everything(museum) == []
    assert everything(museum, AUXILIARY) == []


def test_the_neighbours_of_a_deleted_asset_keep_all(museum: Lifecycle, tables: Tables) -> None:
    created_asset(museum.gallery.assets, "statue-2")
    kept = ("statue-2/a.glb", "previews/statue-2/front.png", "statues.txt")
    for key in kept:
        put_object(museum.objects, BUCKET, key)
    put_object(museum.objects, AUXILIARY, "statue-2/octree/1.bin")
    neighbour = keys.FILE.build("museum", "statue-2", "/")
    row = {keys.FILE.name: neighbour, keys.ASSET.name: "museum:statue-2"}
    put(tables, metadata.ASSET_FILE_METADATA, metadataKey="m0", **row)
    before = left(tables)
    furnish(museum, tables)
    museum.work_off(museum.delete())
    after = left(tables)
    assert everything(museum) == sorted(kept)
    assert everything(museum, AUXILIARY) == ["statue-2/octree/1.bin"]
    for table, items in after.items():
        assert all("statue-2" in str(item) for item in items), table
        assert len(items) == len([item for item in before[table] if "statue-2" in str(item)])


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
        found = [version._replace(key=version.key.replace("~", "?")) for version in page.versions]
        return page._replace(versions=tuple(found))

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
