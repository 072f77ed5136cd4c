"""Listing files and describing one, over an object store in memory."""

from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.files.rules import rows_of
from backend.domains.files.service import entries, queries
from backend.spec.tables.assets import ASSET_FILE_VERSIONS, ASSET_VERSIONS
from tests.factories.files import BUCKET, GLB, Gallery, gallery
from tests.unit.domains.files.changes import forget_types

TREE = ("/b/c/deep.glb", "/b/two.obj", "/a.glb", "/b-side.txt", "/ä.stl")


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Gallery:
    return gallery(tables, objects)


def paths(museum: Gallery, **query: str) -> list[str]:
    """The paths of a whole listing, page after page."""
    found: list[str] = []
    token = None
    while True:
        answer = museum.list_files(**query, **({} if token is None else {"startingToken": token}))
        assert answer.status == 200, answer.body
        found += [item["relativePath"] for item in answer.body["items"]]
        token = answer.body.get("NextToken")
        if token is None:
            return found


def row(museum: Gallery, path: str, **query: str) -> dict[str, Any]:
    (found,) = (
        item for item in museum.list_files(**query).body["items"] if item["relativePath"] == path
    )
    return found


def archive(museum: Gallery, path: str) -> None:
    museum.objects.delete(BUCKET, museum.asset.asset_location.key + path.removeprefix("/"))


def snapshot(tables: Tables, version: str, files: dict[str, str], **more: Any) -> None:
    """A version of the asset that holds these files (path to S3 version id)."""
    tables.write(
        Put(
            table=ASSET_VERSIONS,
            item={
                "databaseId:assetId": "museum:statue",
                "assetVersionId": version,
                "comment": "",
                "description": "",
                "dateCreated": "2026-03-01T12:00:00.000000Z",
                "createdAt": "2026-03-01T12:00:00.000000Z",
                "createdBy": "admin",
                **more,
            },
        )
    )
    if "versionAlias" in more:
        alias = {
            "databaseId:assetId": "museum:statue",
            "assetVersionId": f"alias#{more['versionAlias']}",
            "version": version,
        }
        tables.write(Put(table=ASSET_VERSIONS, item=alias))
    for path, version_id in files.items():
        tables.write(Put(table=ASSET_FILE_VERSIONS, item=file_of(version, path, version_id)))


def file_of(version: str, path: str, version_id: str) -> dict[str, Any]:
    return {
        "databaseId:assetId:assetVersionId": f"museum:statue:{version}",
        "databaseId:assetId": "museum:statue",
        "fileKey": path,
        "versionId": version_id,
        "size": 64,
        "lastModified": "2026-03-01T12:00:00.000000Z",
        "etag": "e",
    }


def test_an_asset_without_files_lists_none(museum: Gallery) -> None:
    answer = museum.list_files()
    assert (answer.status, answer.body) == (200, {"items": []})


def test_files_and_the_folders_they_imply_are_listed_in_key_order(museum: Gallery) -> None:
    for path in TREE:
        museum.put(path)
    assert paths(museum) == [
        "/a.glb",
        "/b-side.txt",
        "/b/",
        "/b/c/",
        "/b/c/deep.glb",
        "/b/two.obj",
        "/ä.stl",
    ]


def test_a_row_has_the_contracts_fields(museum: Gallery) -> None:
    version_id = museum.put("/b/two.obj")
    found = row(museum, "/b/two.obj")
    assert found.pop("dateCreatedCurrentVersion").startswith("20")
    assert found == {
        "fileName": "two.obj",
        "key": "statue/b/two.obj",
        "relativePath": "/b/two.obj",
        "isFolder": False,
        "size": len(GLB),
        "versionId": version_id,
        "storageClass": "STANDARD",
        "isArchived": False,
        "currentAssetVersionFileVersionMismatch": True,
        "isPermanentlyDeleted": False,
        "primaryType": "",
    }
    assert row(museum, "/b/") == {
        "fileName": "b",
        "key": "statue/b/",
        "relativePath": "/b/",
        "isFolder": True,
        "isArchived": False,
        "isPermanentlyDeleted": False,
    }


def test_a_basic_listing_sends_no_head_requests(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.put("/a.glb")

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a HEAD")

    monkeypatch.setattr(S3Objects, "head", forbidden)
    found = row(museum, "/a.glb", basic="true")
    assert (found["size"], "versionId" in found) == (len(GLB), False)


def test_pages_of_any_size_hold_the_whole_listing(museum: Gallery) -> None:
    for path in TREE:
        museum.put(path)
    whole = paths(museum)
    for size in ("1", "2", "3", "7"):
        assert paths(museum, pageSize=size, basic="true") == whole
        assert paths(museum, pageSize=size, basic="true", includeArchived="true") == whole


def test_a_token_of_another_listing_is_refused(museum: Gallery) -> None:
    for path in TREE:
        museum.put(path)
    token = museum.list_files(pageSize="1").body["NextToken"]
    for query in (
        {"startingToken": token + "x"},
        {"startingToken": "garbage"},
    ):
        answer = museum.list_files(**query)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "startingToken")


def test_a_prefix_narrows_the_listing(museum: Gallery) -> None:
    for path in TREE:
        museum.put(path)
    assert paths(museum, prefix="/b/") == ["/b/", "/b/c/", "/b/c/deep.glb", "/b/two.obj"]
    assert paths(museum, prefix="b") == [
        "/b-side.txt",
        "/b/",
        "/b/c/",
        "/b/c/deep.glb",
        "/b/two.obj",
    ]
    assert paths(museum, prefix="statue/a") == ["/a.glb"]
    assert paths(museum, prefix="/none") == []


def test_a_prefix_does_not_leave_the_asset(museum: Gallery) -> None:
    museum.objects.put(BUCKET, "vase/secret.glb", b"s", content_type="text/plain", metadata={})
    for prefix in ("/../vase", "..", "/a/../../vase/", "/a//b", "./"):
        answer = museum.list_files(prefix=prefix)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "prefix"), prefix
    assert paths(museum, prefix="vase/") == []


def test_wrong_parameters_are_refused_by_name(museum: Gallery) -> None:
    for name, value in {
        "pageSize": "0",
        "maxItems": "many",
        "basic": "perhaps",
        "assetVersionId": "one",
    }.items():
        answer = museum.list_files(**{name: value})
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, name)


def test_previews_are_returned_with_their_file_and_are_no_rows(museum: Gallery) -> None:
    museum.put("/a.glb")
    museum.put("/a.glb-part")
    museum.put("/a.glb.previewFile.png")
    assert paths(museum) == ["/a.glb", "/a.glb-part"]
    assert row(museum, "/a.glb")["previewFile"] == "statue/a.glb.previewFile.png"
    assert "previewFile" not in row(museum, "/a.glb-part")


def test_a_preview_beyond_the_page_of_the_store_is_found(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MAX_BATCH", 2)
    for path in ("/a.glb", "/a.glb-part", "/a.glb.previewFile.png", "/b.glb"):
        museum.put(path)
    assert row(museum, "/a.glb")["previewFile"] == "statue/a.glb.previewFile.png"
    assert paths(museum) == ["/a.glb", "/a.glb-part", "/b.glb"]


@pytest.mark.parametrize(("seconds", "most"), [(0, 2), (60, 5)])
def test_a_page_that_takes_too_long_is_shorter_and_nothing_is_left_out(
    museum: Gallery, tables: Tables, monkeypatch: pytest.MonkeyPatch, seconds: int, most: int
) -> None:
    forget_types(tables)
    monkeypatch.setattr(queries, "_AT_ONCE", 2)
    monkeypatch.setattr(queries, "MAX_TIME_PER_PAGE", timedelta(seconds=seconds))
    for path in (whole := [f"/{number}.glb" for number in range(7)]):
        museum.put(path)
    assert len(museum.list_files(pageSize="5").body["items"]) == most
    assert paths(museum, pageSize="5") == whole


def test_archived_files_are_listed_on_request(museum: Gallery) -> None:
    for path in ("/a.glb", "/b.glb"):
        museum.put(path)
        museum.put(path, GLB + b"again")
    archive(museum, "/b.glb")
    assert paths(museum) == ["/a.glb"]
    assert paths(museum, includeArchived="true") == ["/a.glb", "/b.glb"]
    assert row(museum, "/b.glb", includeArchived="true")["isArchived"] is True
    assert row(museum, "/a.glb", includeArchived="true")["size"] == len(GLB) + 5


def test_a_listing_with_archived_files_reads_over_the_pages_of_the_store(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MAX_BATCH", 3)
    for path in TREE:
        for _ in range(3):
            museum.put(path)
    whole = paths(museum, includeArchived="true", basic="true")
    assert whole == paths(museum)
    assert paths(museum, includeArchived="true", basic="true", pageSize="2") == whole


def test_a_folder_object_is_one_row(museum: Gallery) -> None:
    museum.put("/empty/", b"")
    museum.put("/full/", b"")
    museum.put("/full/a.glb")
    assert paths(museum) == ["/empty/", "/full/", "/full/a.glb"]


def test_a_file_that_the_current_version_holds_does_not_differ(
    museum: Gallery, tables: Tables
) -> None:
    version_id = museum.put("/a.glb")
    snapshot(tables, "0", {"/a.glb": version_id})
    assert row(museum, "/a.glb")["currentAssetVersionFileVersionMismatch"] is False
    museum.put("/a.glb", b"newer")
    assert row(museum, "/a.glb")["currentAssetVersionFileVersionMismatch"] is True


def test_a_version_lists_the_files_that_it_holds(museum: Gallery, tables: Tables) -> None:
    first = museum.put("/a.glb")
    gone = museum.put("/gone.glb")
    museum.put("/a.glb", b"newer")
    museum.objects.delete_version(BUCKET, "statue/gone.glb", version_id=gone)
    snapshot(tables, "1", {"/a.glb": first, "/gone.glb": gone})
    items = museum.list_files(assetVersionId="1").body["items"]
    assert [(one["relativePath"], one["versionId"]) for one in items] == [
        ("/a.glb", first),
        ("/gone.glb", gone),
    ]
    assert [one["isPermanentlyDeleted"] for one in items] == [False, True]
    assert paths(museum, assetVersionId="1", pageSize="1") == ["/a.glb", "/gone.glb"]
    assert paths(museum, assetVersionId="1", prefix="/g", basic="true") == ["/gone.glb"]
    assert paths(museum, assetVersionId="0") == []
    assert museum.list_files(assetVersionId="9").status == 404


def test_a_file_is_described(museum: Gallery) -> None:
    version_id = museum.put("/b/two.obj")
    answer = museum.file_info("/b/two.obj")
    body = answer.body
    assert body.pop("lastModified").startswith("20")
    assert body.pop("etag")
    assert body == {
        "fileName": "two.obj",
        "key": "statue/b/two.obj",
        "relativePath": "/b/two.obj",
        "isFolder": False,
        "size": len(GLB),
        "contentType": "text/plain",
        "storageClass": "STANDARD",
        "versionId": version_id,
        "isArchived": False,
        "primaryType": "",
    }


def test_a_file_is_named_by_path_or_by_key(museum: Gallery) -> None:
    museum.put("/b/two.obj")
    for name in ("/b/two.obj", "b/two.obj", "statue/b/two.obj"):
        assert museum.file_info(name).body["key"] == "statue/b/two.obj"
    assert museum.file_info("/statue/b/two.obj").status == 404


def test_an_absent_file_is_not_found(museum: Gallery) -> None:
    answer = museum.file_info("/none.glb")
    assert (answer.status, answer.body["code"]) == (404, "FileNotFound")


def test_a_wrong_path_is_refused_by_name(museum: Gallery) -> None:
    museum.objects.put(BUCKET, "vase/secret.glb", b"s", content_type="text/plain", metadata={})
    for path in ("/../vase/secret.glb", "/cafe\u0301.glb", "/a\u0000", "/a//b", "//a", "/x" * 600):
        answer = museum.file_info(path)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "filePath"), path
    assert museum.file_info("").status == 400
    assert museum.file_info("vase/secret.glb").status == 404


def test_a_folder_is_described(museum: Gallery) -> None:
    museum.put("/b/two.obj")
    found = museum.file_info("/b/")
    assert (found.status, found.body["isFolder"], found.body["fileName"]) == (200, True, "b")
    assert museum.file_info("/none/").status == 404


def test_an_archived_file_is_described_as_it_was(museum: Gallery) -> None:
    version_id = museum.put("/a.glb")
    archive(museum, "/a.glb")
    body = museum.file_info("/a.glb", includeVersions="true").body
    assert (body["isArchived"], body["versionId"]) == (True, version_id)
    assert (body["size"], body["contentType"]) == (len(GLB), "text/plain")
    assert [(one["isArchived"], one["isLatest"]) for one in body["versions"]] == [
        (True, True),
        (False, False),
    ]


def test_the_versions_of_a_file_show_which_asset_versions_hold_them(
    museum: Gallery, tables: Tables
) -> None:
    first = museum.put("/a.glb")
    second = museum.put("/a.glb", b"second")
    museum.put("/a.glb.txt")
    snapshot(tables, "0", {"/a.glb": first})
    snapshot(tables, "1", {"/a.glb": first}, versionAlias="opening")
    items = museum.file_info("/a.glb", includeVersions="true").body["versions"]
    assert [one["versionId"] for one in items] == [second, first]
    assert items[0]["assetVersionIds"] == []
    held = sorted(items[1]["assetVersionIds"], key=lambda one: one["id"])
    assert held == [{"id": "0", "label": "0"}, {"id": "1", "label": "opening"}]
    mismatches = [one["currentAssetVersionFileVersionMismatch"] for one in items]
    assert mismatches == [True, False]
    assert "versions" not in museum.file_info("/a.glb").body


def test_a_stranger_sees_no_files(museum: Gallery) -> None:
    museum.put("/a.glb")
    stranger = museum.as_user("stranger")
    assert stranger.list_files().status == 403
    assert stranger.file_info("/a.glb").status == 403


def test_a_key_adds_the_folders_that_were_not_seen() -> None:
    assert list(rows_of("p/", None, "p/a/b/c")) == ["p/a/", "p/a/b/", "p/a/b/c"]
    assert list(rows_of("p/", "p/a/b/c", "p/a/d")) == ["p/a/d"]
    assert list(rows_of("p/", "p/a/d", "p/b/")) == ["p/b/"]
    assert list(rows_of("p/", None, "p/")) == []


def test_a_basic_listing_continues_where_a_client_leaves_basic_out(museum: Gallery) -> None:
    for number in range(3):
        museum.put(f"/{number}.txt")
    first = museum.list_files(basic="true", pageSize="2").body
    assert "contentType" not in first["items"][0]
    second = museum.list_files(startingToken=first["NextToken"]).body
    assert [row["relativePath"] for row in second["items"]] == ["/2.txt"]
