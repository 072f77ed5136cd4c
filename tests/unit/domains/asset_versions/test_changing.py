"""Changing versions, archiving them with or without their asset, and going back to one."""

from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.domains.metadata.routes import build_router
from tests.factories.audit import entries
from tests.factories.files import BUCKET
from tests.factories.http import Client
from tests.factories.metadata import metadata_service
from tests.factories.versions import Versions, versions
from tests.unit.domains.asset_versions.test_making import put
from tests.unit.domains.metadata.calls import FILE, record, send, values


def flags(museum: Versions) -> dict[str, bool]:
    return {one["Version"]: one["isArchived"] for one in museum.listed(showArchived="true")}


def update(museum: Versions, number: str, **body: Any) -> tuple[int, Any]:
    answer = museum.send("PUT", f"assetversions/{number}", body=body)
    return answer.status, answer.body.get("code", answer.body)


def archive(museum: Versions, number: str, body: Any = None) -> tuple[int, Any]:
    answer = museum.send("POST", f"assetversions/{number}/archive", body=body)
    return answer.status, answer.body.get("code", answer.body)


def unarchive(museum: Versions, number: str) -> tuple[int, Any]:
    answer = museum.send("POST", f"assetversions/{number}/unarchive")
    return answer.status, answer.body.get("code", answer.body)


def test_a_comment_and_an_alias_change_on_the_version_and_on_its_asset(museum: Versions) -> None:
    museum.made("one", versionAlias="first")
    status, body = update(museum, "1", comment="x" * 1024, versionAlias="second")
    assert (status, body["operation"], body["assetVersionId"]) == (200, "update", "1")
    listed = museum.listed()[0]
    assert (listed["Comment"], listed["versionAlias"]) == ("x" * 1024, "second")
    asset = museum.lifecycle.asset()
    assert asset is not None
    assert asset.current_version.version_alias == "second"
    museum.made("two", versionAlias="first")
    update(museum, "1", comment="older")
    asset = museum.lifecycle.asset()
    assert asset is not None
    assert asset.current_version.comment == "two"


def test_an_alias_can_be_taken_away_and_taken_again(museum: Versions) -> None:
    museum.made(versionAlias="first")
    museum.made()
    assert update(museum, "2", versionAlias="first") == (409, "VersionAliasTaken")
    assert update(museum, "1", versionAlias="")[0] == 200
    assert update(museum, "2", versionAlias="first")[0] == 200
    assert [one["versionAlias"] for one in museum.listed()] == ["first", "", ""]


@pytest.mark.parametrize(
    "body", [{}, {"comment": ""}, {"comment": "x" * 1025}, {"versionAlias": "7"}, {"comment": 1}]
)
def test_a_wrong_change_is_refused(museum: Versions, body: dict[str, Any]) -> None:
    museum.made()
    assert update(museum, "1", **body)[0] == 400


def test_what_changes_nothing_writes_nothing(museum: Versions) -> None:
    museum.made("as it is")
    assert update(museum, "1", comment="as it is")[0] == 200
    asset = museum.lifecycle.asset()
    assert asset is not None
    assert asset.revision == 2


def test_absent_versions_are_not_found(museum: Versions) -> None:
    absent = (404, "AssetVersionNotFound")
    assert update(museum, "1", comment="x") == absent
    assert archive(museum, "1") == absent
    assert unarchive(museum, "1") == absent
    assert museum.revert("1").body["code"] == "AssetVersionNotFound"


def test_an_older_version_is_archived_alone(museum: Versions) -> None:
    museum.made(versionAlias="first")
    museum.made()
    status, body = archive(museum, "1", {"reason": "old"})
    assert (status, body["operation"]) == (200, "archive")
    assert "jobId" not in body
    assert archive(museum, "1") == (409, "AssetVersionIsArchived")
    assert [one["Version"] for one in museum.listed()] == ["2", "0"]
    assert flags(museum) == {"2": False, "1": True, "0": False}
    asset = museum.lifecycle.asset()
    assert asset is not None
    assert not asset.is_archived
    audited = entries(museum.lifecycle.tables)
    (entry,) = [each for each in audited if each["operation"] == "archive_asset_version"]
    assert entry["changes"]["archivedReason"] == {"after": "old"}
    assert unarchive(museum, "1")[0] == 200
    assert unarchive(museum, "1") == (409, "AssetVersionIsActive")


def test_the_current_version_archives_and_restores_its_asset(museum: Versions) -> None:
    put(museum, "/a.glb")
    museum.made()
    assert archive(museum, "1") == (409, "ConfirmArchiveAssetMissing")
    assert archive(museum, "1", {"confirmArchiveAsset": False})[0] == 409
    assert archive(museum, "1", {"confirmArchiveAsset": "yes"})[0] == 400
    status, body = archive(museum, "1", {"confirmArchiveAsset": True, "reason": "old"})
    assert (status, body["jobState"]) == (200, "done")
    asset = museum.lifecycle.asset()
    assert asset is not None
    assert (asset.is_archived, asset.archived_reason) == (True, "old")
    assert museum.lifecycle.files() == {"/a.glb": True}
    assert museum.send("GET", "getVersions").status == 404
    assert flags(museum) == {"1": True, "0": False}
    assert museum.whole("1")["files"][0]["isLatestVersionArchived"] is True
    assert archive(museum, "0") == (409, "AssetArchived")
    assert unarchive(museum, "0") == (409, "AssetVersionIsActive")
    assert unarchive(museum, "1")[0] == 200
    asset = museum.lifecycle.asset()
    assert asset is not None
    assert not asset.is_archived
    assert flags(museum) == {"1": False, "0": False}
    assert museum.lifecycle.files() == {"/a.glb": False}


def test_an_asset_that_its_current_version_took_along_comes_back_with_it(museum: Versions) -> None:
    put(museum, "/a.glb")
    museum.made()
    archive(museum, "0")
    archive(museum, "1", {"confirmArchiveAsset": True})
    museum.lifecycle.unarchive()
    assert flags(museum) == {"1": False, "0": True}
    assert museum.lifecycle.files() == {"/a.glb": False}
    (entry,) = [e for e in entries(museum.lifecycle.tables) if e["operation"] == "unarchive_asset"]
    assert entry["changes"]["version.1.isArchived"] == {"before": True, "after": False}
    assert archive(museum, "1", {"confirmArchiveAsset": True})[0] == 200


def test_an_asset_that_was_archived_itself_comes_back_with_its_versions_as_they_were(
    museum: Versions,
) -> None:
    museum.made()
    archive(museum, "0")
    museum.lifecycle.archive()
    museum.lifecycle.unarchive()
    assert flags(museum) == {"1": False, "0": True}
    (entry,) = [e for e in entries(museum.lifecycle.tables) if e["operation"] == "unarchive_asset"]
    assert not [name for name in entry["changes"] if name.startswith("version.")]


def test_an_older_version_of_an_archived_asset_remains_archived(museum: Versions) -> None:
    museum.made()
    archive(museum, "0")
    museum.lifecycle.archive()
    assert unarchive(museum, "0") == (409, "AssetArchived")


def test_reverting_restores_files_as_a_new_version(museum: Versions) -> None:
    first = put(museum, "/a.glb", "/b.glb", "/c.glb", "/d.glb")
    museum.made("one")
    newer = museum.lifecycle.gallery.put("/a.glb", b"newer")
    museum.lifecycle.hide("/b.glb")
    prefix = "statue/"
    museum.lifecycle.objects.delete_version(BUCKET, f"{prefix}c.glb", version_id=first["/c.glb"])
    put(museum, "/new.glb")
    museum.made("two")
    answer = museum.revert("1")
    assert answer.status == 200, answer.body
    assert (answer.body["assetVersionId"], answer.body["operation"]) == ("3", "revert")
    assert answer.body["skippedFiles"] == ["/c.glb"]
    held = museum.files("3")
    assert held.keys() == {"/a.glb", "/b.glb", "/d.glb"}
    assert held["/d.glb"] == first["/d.glb"]
    assert held["/a.glb"] not in {first["/a.glb"], newer}
    assert museum.lifecycle.objects.read_start(BUCKET, "statue/a.glb", length=9) == b"/a.glb"
    assert museum.lifecycle.files() == dict.fromkeys(
        ("/a.glb", "/b.glb", "/d.glb", "/new.glb"), False
    )
    assert ("museum", "statue", "/a.glb") in museum.lifecycle.reindexing.built
    assert museum.listed()[0]["Comment"] == "back again"
    states = {one["relativeKey"]: one for one in museum.whole("1")["files"]}
    assert states["/c.glb"]["isPermanentlyDeleted"] is True


def test_reverting_keeps_metadata_or_restores_it(tables: Tables, objects: S3Objects) -> None:
    museum = versions(tables, objects)
    put(museum, "/a/b.glb", "/other.glb")
    client = Client(
        build_router(metadata_service(museum.lifecycle.gallery.assets, tables, objects))
    )
    on_file = {"filePath": "/a/b.glb", "type": "metadata"}

    def add(key: str, **more: Any) -> None:
        answer = send(client, "POST", body={"metadata": [record(key)], **more}, **route(more))
        assert answer.status == 200, answer.body

    def route(more: dict[str, Any]) -> dict[str, Any]:
        return {"route": FILE} if more else {}

    add("year")
    add("part", **on_file)
    museum.made("one")
    send(client, "PUT", body={"metadata": [record("year", "1900")]})
    send(client, "DELETE", FILE, body={"metadataKeys": ["part"], **on_file})
    add("later", **{**on_file, "type": "attribute"})
    add("stays", filePath="/other.glb", type="metadata")
    museum.lifecycle.objects.delete(BUCKET, "statue/other.glb")
    museum.made("two")
    museum.revert("1")
    assert values(client) == {"year": "1900"}
    answer = museum.revert("1", revertMetadata=True)
    assert answer.status == 200, answer.body
    assert values(client) == {"year": "v"}
    assert values(client, FILE, **on_file) == {"part": "v"}
    assert values(client, FILE, **{**on_file, "type": "attribute"}) == {}
    held = {(r["filePath"], r["metadataKey"]) for r in museum.whole("4")["versionedMetadata"]}
    assert held == {("/", "year"), ("/a/b.glb", "part")}


@pytest.mark.parametrize("body", [{"comment": ""}, {"comment": None}, {"revertMetadata": "yes"}])
def test_a_wrong_revert_is_refused(museum: Versions, body: dict[str, Any]) -> None:
    assert museum.revert("0", **body).status == 400
    assert len(museum.listed()) == 1
