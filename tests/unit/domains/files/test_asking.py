"""Requests about files that are refused, and why files are not inspected."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import Gallery, gallery


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Gallery:
    return gallery(tables, objects)


def test_a_folder_is_returned_as_it_is_now_only(museum: Gallery) -> None:
    museum.put("/b/two.obj")
    assert museum.file_info("/b/").body["isFolder"] is True
    of_version = museum.file_info("/b/", assetVersionId="0")
    assert (of_version.status, of_version.body["errors"][0]["field"]) == (400, "filePath")
    assert museum.file_info("/b/", assetVersionId="9").status == 404


def test_a_prefix_that_is_longer_than_keys_is_refused(museum: Gallery) -> None:
    room = 1024 - len("statue/")
    assert museum.list_files(prefix="/" + "ä" * (room // 2) + "x" * (room % 2)).status == 200
    for version in ({}, {"assetVersionId": "0"}):
        answer = museum.list_files(prefix="/" + "x" * (room + 1), **version)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "prefix")


def test_files_of_an_archived_asset_are_not_changed(museum: Gallery, tables: Tables) -> None:
    museum.put("/a.glb")
    asset = museum.assets.find_asset("museum", "statue")
    assert asset is not None
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
