"""What is asked of files and could only be ignored, or answered by no store: it is refused."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import Gallery, gallery


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Gallery:
    return gallery(tables, objects)


def test_a_folder_is_told_as_it_is_now_only(museum: Gallery) -> None:
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
    tables.transact(museum.assets.assets.moves(asset, archived))
    move = {"sourcePath": "/a.glb", "destinationPath": "/parts/b.glb"}
    answer = museum.change("POST", "moveFile", move)
    assert (answer.status, answer.body["code"]) == (404, "AssetNotFound")
