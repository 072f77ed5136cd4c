"""Lists of files, the description of one, and requests about files that are refused."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from backend.domains.files.repository import FileRepository
from backend.domains.files.rules import rows_of
from backend.domains.files.service import queries, rows
from tests.factories.files import BUCKET, GLB, Gallery
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import forget_types, snapshot

TREE = ("/b/c/deep.glb", "/b/two.obj", "/a.glb", "/b-side.txt", "/ä.stl")


def paths(museum: Gallery, **query: str) -> list[str]:
    """The paths of a whole listing, page after page."""
    result: list[str] = []
    token = None
    while True:
        answer = museum.list_files(**query, **({} if token is None else {"startingToken": token}))
        assert answer.status == 200, answer.body
        result += [item["relativePath"] for item in answer.body["items"]]
        token = answer.body.get("NextToken")
        if token is None:
            return result


def row(museum: Gallery, path: str, **query: str) -> dict[str, Any]:
    (element,) = (
        item for item in museum.list_files(**query).body["items"] if item["relativePath"] == path
    )
    return element


def archive(museum: Gallery, path: str) -> None:
    museum.objects.delete(BUCKET, museum.asset.asset_location.key + path.removeprefix("/"))


def test_files_and_the_folders_they_imply_are_listed_in_key_order(museum: Gallery) -> None:
    for path in TREE:
        museum.put(path)
    in_b = ["/b/", "/b/c/", "/b/c/deep.glb", "/b/two.obj"]
    whole = ["/a.glb", "/b-side.txt", *in_b, "/ä.stl"]
    assert paths(museum) == whole
    for size in ("1", "2", "3", "7"):
        assert paths(museum, pageSize=size, basic="true") == whole
        assert paths(museum, pageSize=size, basic="true", includeArchived="true") == whole
    assert paths(museum, prefix="/b/") == in_b
    assert paths(museum, prefix="b") == ["/b-side.txt", *in_b]
    assert paths(museum, prefix="statue/a") == ["/a.glb"]
    assert paths(museum, prefix="/none") == []
    for path in TREE * 2:
        museum.put(path)
    with patch.object(rows, "MAX_BATCH", 3):  # versions go over the pages of the store
        for page in ({}, {"pageSize": "2"}):
            assert paths(museum, includeArchived="true", basic="true", **page) == whole


def test_a_row_has_the_contracts_fields(museum: Gallery) -> None:
    version_id = museum.put("/b/two.obj")
    result = row(museum, "/b/two.obj")
    assert result.pop("dateCreatedCurrentVersion").startswith("20")
    (basic,) = museum.list_files(prefix="/b/two.obj", basic="true").body["items"]
    described = museum.file_info("/b/two.obj").body
    assert result.pop("etag") == basic["etag"] == described["etag"] != ""
    assert result == {
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


def test_a_basic_listing_sends_no_head_requests_and_continues_without_basic(
    museum: Gallery,
) -> None:
    for number in range(3):
        museum.put(f"/{number}.txt")
    with (
        patch.object(MemoryObjects, "head", side_effect=AssertionError("a HEAD")),
        patch.object(FileRepository, "origins", side_effect=AssertionError("read of origins")),
    ):
        first = museum.list_files(basic="true", pageSize="2").body
    assert first["items"][0]["size"] == len(GLB)
    assert not {"versionId", "contentType"} & first["items"][0].keys()
    second = museum.list_files(startingToken=first["NextToken"]).body
    assert [row["relativePath"] for row in second["items"]] == ["/2.txt"]


def test_wrong_parameters_are_refused_by_name(museum: Gallery) -> None:
    for path in TREE:
        museum.put(path)
    token = museum.list_files(pageSize="1").body["NextToken"]
    for name, value in (
        ("startingToken", token + "x"),  # of another listing
        ("startingToken", "garbage"),
        ("pageSize", "0"),
        ("maxItems", "many"),
        ("basic", "perhaps"),
        ("assetVersionId", "one"),
    ):
        answer = museum.list_files(**{name: value})
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, name)


def test_a_prefix_does_not_leave_the_asset(museum: Gallery) -> None:
    assert museum.list_files().body == {"items": []}
    museum.objects.put(BUCKET, "vase/secret.glb", b"s", content_type="text/plain", metadata={})
    for prefix in ("/../vase", "..", "/a/../../vase/", "/a//b", "./"):
        answer = museum.list_files(prefix=prefix)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "prefix"), prefix
    assert paths(museum, prefix="vase/") == []


def test_previews_are_returned_with_their_file_and_are_no_rows(museum: Gallery) -> None:
    for path in ("/a.glb", "/a.glb-part", "/a.glb.previewFile.png", "/b.glb"):
        museum.put(path)
    for batch in (rows.MAX_BATCH, 2):  # it may be beyond the page of the store
        with patch.object(rows, "MAX_BATCH", batch):
            assert paths(museum) == ["/a.glb", "/a.glb-part", "/b.glb"]
            assert row(museum, "/a.glb")["previewFile"] == "statue/a.glb.previewFile.png"
            assert "previewFile" not in row(museum, "/a.glb-part")


@pytest.mark.parametrize(("seconds", "most"), [(0, 2), (60, 5)])
def test_a_page_that_takes_too_long_is_shorter_and_nothing_is_left_out(
    museum: Gallery, tables: MemoryTables, monkeypatch: pytest.MonkeyPatch, seconds: int, most: int
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


def test_a_file_that_the_current_version_holds_does_not_differ(
    museum: Gallery, tables: MemoryTables
) -> None:
    version_id = museum.put("/a.glb")
    snapshot(tables, "0", {"/a.glb": version_id})
    assert row(museum, "/a.glb")["currentAssetVersionFileVersionMismatch"] is False
    museum.put("/a.glb", b"newer")
    assert row(museum, "/a.glb")["currentAssetVersionFileVersionMismatch"] is True


def test_a_version_lists_the_files_that_it_holds(museum: Gallery, tables: MemoryTables) -> None:
    first = museum.put("/a.glb")
    gone = museum.put("/gone.glb")
    museum.put("/a.glb", b"newer")
    museum.objects.delete_version(BUCKET, "statue/gone.glb", version_id=gone)
    snapshot(tables, "1", {"/a.glb": first, "/gone.glb": gone})
    items = museum.list_files(assetVersionId="1").body["items"]
    rows = [tuple(item[name] for name in ("relativePath", "versionId")) for item in items]
    assert rows == [("/a.glb", first), ("/gone.glb", gone)]
    assert [item["isPermanentlyDeleted"] for item in items] == [False, True]
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
    stranger = museum.as_user("stranger")
    assert stranger.list_files().status == stranger.file_info("/b/two.obj").status == 403
    answer = museum.file_info("/none.glb")
    assert (answer.status, answer.body["code"]) == (404, "FileNotFound")


def test_a_wrong_path_is_refused_by_name(museum: Gallery) -> None:
    museum.objects.put(BUCKET, "vase/secret.glb", b"s", content_type="text/plain", metadata={})
    for path in ("/../vase/secret.glb", "/cafe\u0301.glb", "/a\u0000", "/a//b", "//a", "/x" * 600):
        answer = museum.file_info(path)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "filePath"), path
    assert museum.file_info("").status == 400
    assert museum.file_info("vase/secret.glb").status == 404


def test_an_archived_file_is_described_as_it_was(museum: Gallery) -> None:
    version_id = museum.put("/a.glb")
    archive(museum, "/a.glb")
    body = museum.file_info("/a.glb", includeVersions="true").body
    assert (body["isArchived"], body["versionId"]) == (True, version_id)
    assert (body["size"], body["contentType"]) == (len(GLB), "text/plain")
    states = [(version["isArchived"], version["isLatest"]) for version in body["versions"]]
    assert states == [(True, True), (False, False)]


def test_the_versions_of_a_file_show_which_asset_versions_hold_them(
    museum: Gallery, tables: MemoryTables
) -> None:
    first = museum.put("/a.glb")
    second = museum.put("/a.glb", b"second")
    museum.put("/a.glb.txt")
    snapshot(tables, "0", {"/a.glb": first})
    snapshot(tables, "1", {"/a.glb": first}, versionAlias="opening")
    items = museum.file_info("/a.glb", includeVersions="true").body["versions"]
    assert [item["versionId"] for item in items] == [second, first]
    assert items[0]["assetVersionIds"] == []
    held = sorted(items[1]["assetVersionIds"], key=lambda one: one["id"])
    assert held == [{"id": "0", "label": "0"}, {"id": "1", "label": "opening"}]
    mismatches = [item["currentAssetVersionFileVersionMismatch"] for item in items]
    assert mismatches == [True, False]
    assert "versions" not in museum.file_info("/a.glb").body


def test_a_key_adds_the_folders_that_were_not_seen(museum: Gallery) -> None:
    assert list(rows_of("p/", None, "p/a/b/c")) == ["p/a/", "p/a/b/", "p/a/b/c"]
    assert list(rows_of("p/", "p/a/b/c", "p/a/d")) == ["p/a/d"]
    assert list(rows_of("p/", "p/a/d", "p/b/")) == ["p/b/"]
    assert list(rows_of("p/", None, "p/")) == []
    museum.put("/empty/", b"")  # a folder object is one row
    museum.put("/full/", b"")
    museum.put("/full/a.glb")
    assert paths(museum) == ["/empty/", "/full/", "/full/a.glb"]


def test_a_folder_is_returned_as_it_is_now_only(museum: Gallery) -> None:
    museum.put("/b/two.obj")
    folder = museum.file_info("/b/")
    assert (folder.status, folder.body["isFolder"], folder.body["fileName"]) == (200, True, "b")
    assert museum.file_info("/none/").status == 404
    of_version = museum.file_info("/b/", assetVersionId="0")
    assert (of_version.status, of_version.body["errors"][0]["field"]) == (400, "filePath")
    assert museum.file_info("/b/", assetVersionId="9").status == 404


def test_a_prefix_that_is_longer_than_keys_is_refused(museum: Gallery) -> None:
    room = 1024 - len("statue/")
    assert museum.list_files(prefix="/" + "ä" * (room // 2) + "x" * (room % 2)).status == 200
    for version in ({}, {"assetVersionId": "0"}):
        answer = museum.list_files(prefix="/" + "x" * (room + 1), **version)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "prefix")


def test_files_of_an_archived_asset_are_not_changed(museum: Gallery, tables: MemoryTables) -> None:
    museum.put("/a.glb")
    asset = museum.stored_asset()
    archived = asset.model_copy(update={"status": "archived", "revision": 2})
    tables.transact(museum.assets.assets.move_writes(asset, archived))
    move = {"sourcePath": "/a.glb", "destinationPath": "/parts/b.glb"}
    answer = museum.change("POST", "moveFile", move)
    assert (answer.status, answer.body["code"]) == (404, "AssetNotFound")


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("/a.txt", b"a", "Files with the extension .txt are not inspected"),
        ("/README", b"a", "Files without an extension are not inspected"),
        ("/a.xml", b"<project/>", "The content is not that of a model with the extension .xml"),
        ("/a.XML", b"<COLLADA/>", None),
        ("/a.xml", b"", None),
        ("/a.glb", b"a", None),
        ("/a.step", b"a", None),
    ],
)
def test_a_file_that_is_not_inspected_is_described_with_the_reason(
    museum: Gallery, path: str, body: bytes, reason: str | None
) -> None:
    museum.put(path, body)
    assert museum.file_info(path).body.get("notInspected") == reason
