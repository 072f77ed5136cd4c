"""Versions of an asset as it is, and of files that are named."""

from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.clients import dynamodb, s3
from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.paging import Page, PageRequest
from backend.core.tables import Tables
from backend.domains.assets.errors import AssetRevisionError
from backend.domains.metadata.routes import build_router
from backend.spec.tables.assets import ASSET_FILE_VERSIONS
from benchmarks.metering import metered
from tests.factories.assets import ADMIN
from tests.factories.files import BUCKET
from tests.factories.http import Client
from tests.factories.metadata import metadata_service
from tests.factories.versions import Versions, named, versions
from tests.unit.domains.asset_versions.world import (
    put,
    put_records,
)
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
    client = Client(build_router(service))
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
        found = send(client, "GET", query=query).body["metadata"]
        assert [one["metadataValue"] for one in found] == ["1889"]
    both = {"assetVersionId": "1", "assetVersionIdAlias": "first"}
    assert send(client, "GET", query=both).status == 400
    assert send(client, "GET", query={"assetVersionIdAlias": "none"}).status == 404


@pytest.mark.parametrize("looks", [3, 1000])
def test_a_record_that_the_index_does_not_show_yet_is_waited_for_but_not_without_end(
    museum: Versions, tables: Tables, objects: S3Objects, looks: int
) -> None:
    service = metadata_service(museum.lifecycle.gallery.assets, tables, objects)
    send(Client(build_router(service)), "POST", body={"metadata": [record("year")]})
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
    states = {one["relativeKey"]: one for one in museum.whole("1")["files"]}
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


def test_what_takes_longer_than_a_request_is_a_job(tables: Tables, objects: S3Objects) -> None:
    museum = versions(tables, objects, listed=2)
    files = put(museum, *(f"/{number}.glb" for number in range(7)))
    museum.lifecycle.hands.tick = timedelta(milliseconds=1500)
    answer = museum.create()
    museum.lifecycle.hands.tick = timedelta(0)
    assert (answer.body["jobState"], answer.body["assetVersionId"]) == ("running", "1")
    assert [one["Version"] for one in museum.listed()] == ["0"]
    done = museum.work_off(answer.body["jobId"])
    assert (done.result or {})["assetVersionId"] == "1"
    assert museum.files("1") == files
    assert museum.whole("1")["fileCount"] == 7


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
