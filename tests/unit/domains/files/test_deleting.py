"""Deleting, reverting, saying what files are, and removing previews, over ports in memory."""

from typing import Any

import pytest

from backend.entrypoints.wiring.file_changes import change_steps
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_FILE_VERSIONS,
    ASSET_VERSIONS,
)
from tests.factories.files import BUCKET, Gallery
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import (
    DELETE,
    FILE,
    audit_entries,
    body_of,
    change,
    head_of,
    note,
    notes,
    state_of,
    stored,
    view,
    views,
)

FOLDER = {"filePath": "/parts/", "isPrefix": True, "confirmPermanentDelete": True}


def versioned(tables: MemoryTables, *paths: str, version: str = "1") -> None:
    """A version of the asset that holds these files, each with a record."""
    partition = keys.ASSET_VERSION.build("museum", "statue", version)
    row = {
        "databaseId:assetId": "museum:statue",
        "assetVersionId": version,
        "comment": "first",
        "description": "",
        "dateCreated": "2026-03-01T12:00:00.000000Z",
        "createdAt": "2026-03-01T12:00:00.000000Z",
        "createdBy": "admin",
        "fileCount": len(paths),
    }
    stored(tables, ASSET_VERSIONS, row)
    for path in paths:
        whole = {keys.ASSET_VERSION.name: partition, "databaseId:assetId": "museum:statue"}
        stored(tables, ASSET_FILE_VERSIONS, {**whole, "fileKey": path, "versionId": "v1"})
        key = keys.SNAPSHOT.build("metadata", path, "year")
        stored(tables, ASSET_FILE_METADATA_VERSIONS, {**whole, keys.SNAPSHOT.name: key})


def snapshot_rows(tables: MemoryTables) -> set[str]:
    files = tables.items.get(ASSET_FILE_VERSIONS.name, {}).values()
    records = tables.items.get(ASSET_FILE_METADATA_VERSIONS.name, {}).values()
    return {i["fileKey"] for i in files} | {i[keys.SNAPSHOT.name] for i in records}


def test_a_deleted_file_leaves_only_its_name_in_versions(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    museum.put("/a.glb", b"first")
    museum.put("/a.glb", b"second")
    museum.put("/a.glb.previewFile.png")
    museum.put("/a.glb.txt", b"another file")
    note(museum, "/a.glb", "year", "1889")
    note(museum, "/a.glb", "vertices", "12", kind="attribute")
    note(museum, "/a.glb.txt", "year", "1890")
    view(museum, "/a.glb/potree/octree.bin")
    view(museum, "/a.glb.txt/potree/octree.bin")
    versioned(tables, "/a.glb", "/a.glb.txt")
    answer = museum.change("DELETE", "deleteFile", DELETE)
    assert (answer.status, answer.body["affectedFiles"]) == (200, ["/a.glb"])
    left = {version.key for version in objects.list_versions(BUCKET, "statue/").versions}
    assert left == {"statue/a.glb.txt"}
    assert notes(museum, "/a.glb") == notes(museum, "/a.glb", kind="attribute") == {}
    assert notes(museum, "/a.glb.txt") == {"year": "1890"}
    assert views(museum) == ["/a.glb.txt/potree/octree.bin"]
    # The version goes on naming the file, without what was stored about it.
    assert snapshot_rows(tables) == {"/a.glb", "/a.glb.txt", "metadata:/a.glb.txt:year"}
    assert [row["fileCount"] for row in tables.items[ASSET_VERSIONS.name].values()] == [0, 2]
    (entry,) = audit_entries(tables, "delete_file")
    assert entry["changes"]["path"] == {"before": "/a.glb"}
    other = {"filePath": "/a.glb.txt"}
    change(museum, "DELETE", "archiveFile", other)
    change(museum, "DELETE", "deleteFile", DELETE | other)  # an archived one
    assert objects.list_versions(BUCKET, "statue/").versions == ()
    assert museum.change("DELETE", "deleteFile", DELETE | other).status == 404


def test_a_folder_is_deleted_without_its_neighbours(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_steps(museum.changing).deletion, "versions", 3)
    for number in range(5):
        museum.put(f"/parts/{number}.glb")
        museum.put(f"/parts/{number}.glb", b"again")
    note(museum, "/parts/3.glb", "year", "1889")
    museum.put("/parts-2/x.glb")
    museum.put("/parts.glb")
    view(museum, "/parts/3.glb/octree.bin")
    versioned(tables, "/parts/3.glb", "/parts-2/x.glb")
    museum.change("DELETE", "archiveFile", {"filePath": "/parts/1.glb"})
    answer = museum.change("DELETE", "deleteFile", FOLDER)
    assert (answer.status, len(answer.body["affectedFiles"])) == (200, 5)
    assert set(state_of(objects)) == {"/parts-2/x.glb", "/parts.glb"}
    assert notes(museum, "/parts/3.glb") == {}
    assert views(museum) == []
    left = {"/parts/3.glb", "/parts-2/x.glb", "metadata:/parts-2/x.glb:year"}
    assert snapshot_rows(tables) == left
    assert museum.change("DELETE", "deleteFile", FOLDER).status == 404
    change(museum, "POST", "createFolder", {"relativeKey": "/parts/"})
    change(museum, "DELETE", "deleteFile", FOLDER)  # an empty one
    assert set(state_of(objects)) == {"/parts-2/x.glb", "/parts.glb"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (FILE, 400),
        ({**DELETE, "confirmPermanentDelete": False}, 400),
        ({**DELETE, "filePath": "/"}, 400),
        ({**DELETE, "filePath": "/", "isPrefix": True}, 400),
        ({**DELETE, "filePath": "/parts/"}, 400),
        ({**DELETE, "filePath": "/a.glb.previewFile.png"}, 400),
        ({**DELETE, "filePath": "/none.glb"}, 404),
        ({**DELETE, "filePath": "/none", "isPrefix": True}, 404),
    ],
)
def test_a_deletion_that_cannot_be_deletes_nothing(
    museum: Gallery, objects: MemoryObjects, body: Any, status: int
) -> None:
    museum.put("/a.glb")
    museum.put("/a.glb.previewFile.png")
    answer = museum.change("DELETE", "deleteFile", body)
    assert answer.status == status, answer.body
    assert len(state_of(objects)) == 2


def test_an_old_version_becomes_the_newest_one(museum: Gallery, objects: MemoryObjects) -> None:
    first = museum.put("/a.glb", b"first")
    museum.put("/a.glb", b"second")
    answer = museum.change("POST", "revertFileVersion", FILE, versionId=first)
    assert answer.status == 200
    assert answer.body["revertedFromVersionId"] == first
    newest = head_of(objects, "/a.glb").version.version_id
    assert answer.body["newVersionId"] == newest not in {first, ""}
    assert body_of(objects, "/a.glb") == b"first"


def test_a_file_is_not_reverted_to_what_is_no_version_of_it(museum: Gallery) -> None:
    first = museum.put("/a.glb", b"first")
    unknown = museum.change("POST", "revertFileVersion", FILE, versionId="none")
    assert (unknown.status, unknown.body["code"]) == (404, "FileVersionNotFound")
    museum.change("DELETE", "archiveFile", FILE)
    archived = museum.change("POST", "revertFileVersion", FILE, versionId=first)
    assert (archived.status, archived.body["code"]) == (409, "FileStateForbids")
    marker = museum.objects.list_versions(BUCKET, "statue/a.glb").versions[0].version_id
    museum.change("POST", "unarchiveFile", FILE)
    assert museum.change("POST", "revertFileVersion", FILE, versionId=marker).status == 400


def test_a_file_becomes_the_primary_one_by_a_new_version(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    first = museum.put("/a.glb", b"first")
    body = {**FILE, "primaryType": "lod2"}
    answer = museum.change("PUT", "setPrimaryFile", body)
    assert (answer.status, answer.body["primaryType"]) == (200, "lod2")
    head = head_of(objects, "/a.glb")
    assert head.version.version_id != first
    assert head.content_type == "text/plain"
    assert museum.file_info("/a.glb").body["primaryType"] == "lod2"
    museum.change("PUT", "setPrimaryFile", body)
    assert head_of(objects, "/a.glb").version.version_id == head.version.version_id
    assert len(audit_entries(tables, "set_primary_file")) == 1
    other = {**FILE, "primaryType": "other", "primaryTypeOther": "proxy mesh"}
    assert museum.change("PUT", "setPrimaryFile", other).body["primaryType"] == "proxy mesh"
    museum.change("PUT", "setPrimaryFile", {**FILE, "primaryType": ""})
    assert museum.file_info("/a.glb").body["primaryType"] == ""


@pytest.mark.parametrize(
    "body",
    [
        {**FILE},
        {**FILE, "primaryType": "lod9"},
        {**FILE, "primaryType": "other"},
        {**FILE, "primaryType": "other", "primaryTypeOther": " "},
        {**FILE, "primaryType": "other", "primaryTypeOther": "x" * 31},
        {**FILE, "primaryType": "other", "primaryTypeOther": "größer"},
        {**FILE, "primaryType": "lod1", "primaryTypeOther": "proxy"},
        {"filePath": "/a.glb.previewFile.png", "primaryType": "lod1"},
    ],
)
def test_a_primary_type_that_is_none_is_refused(museum: Gallery, body: Any) -> None:
    museum.put("/a.glb")
    museum.put("/a.glb.previewFile.png")
    assert museum.change("PUT", "setPrimaryFile", body).status == 400
    folder = {"filePath": "/models/", "primaryType": "primary"}
    answer = museum.change("PUT", "setPrimaryFile", folder)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "filePath")
    assert "'/models/' must not end with '/'" in answer.body["message"]


def test_the_preview_of_an_asset_is_deleted_once(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    key = "previews/statue/front.png"
    objects.put(BUCKET, key, b"png", content_type="image/png", metadata={})
    museum.assets.set_content(museum.asset, preview_key=key)
    answer = museum.change("DELETE", "deleteAssetPreview")
    assert (answer.status, answer.body["assetId"]) == (200, "statue")
    asset = museum.stored_asset()
    assert asset.preview_location is None
    assert objects.list_objects(BUCKET, "previews/").objects == ()
    (entry,) = audit_entries(tables, "delete_asset_preview")
    assert entry["changes"]["previewLocation"]["before"] == {"Key": key}
    again = museum.change("DELETE", "deleteAssetPreview")
    assert (again.status, again.body["code"]) == (404, "PreviewNotFound")


def test_a_preview_at_the_root_of_an_asset_is_archived_and_comes_back(
    museum: Gallery, tables: MemoryTables
) -> None:
    museum.put("/preview.png")
    answer = museum.change("DELETE", "deleteAssetPreview")
    assert (answer.status, answer.body["assetId"]) == (200, "statue")
    assert museum.download(downloadType="assetPreview").status == 404
    (entry,) = audit_entries(tables, "delete_asset_preview")
    assert entry["changes"]["status"] == {"before": "active", "after": "archived"}
    again = museum.change("DELETE", "deleteAssetPreview")
    assert (again.status, again.body["code"]) == (404, "PreviewNotFound")
    assert museum.change("POST", "unarchiveFile", {"filePath": "/preview.png"}).status == 200
    assert museum.download(downloadType="assetPreview").status == 200


def test_the_preview_of_an_asset_does_not_count_for_its_type(museum: Gallery) -> None:
    museum.put("/preview.png")
    assert museum.files.asset_type(museum.asset) == "none"
    museum.put("/a.glb")
    assert museum.files.asset_type(museum.asset) == ".glb"
    museum.put("/parts/preview.png")
    assert museum.files.asset_type(museum.asset) == "folder"


def test_what_viewers_made_of_a_file_is_deleted(museum: Gallery) -> None:
    for path in ("/a.glb", "/a.glb/potree/1.bin", "/a.glb/potree/2.bin", "/a.glb2/1.bin"):
        view(museum, path)
    answer = museum.change("DELETE", "deleteAuxiliaryPreviewAssetFiles", FILE)
    assert (answer.status, answer.body["deletedCount"]) == (200, 3)
    assert views(museum) == ["/a.glb2/1.bin"]
    again = museum.change("DELETE", "deleteAuxiliaryPreviewAssetFiles", FILE)
    assert (again.status, again.body["deletedCount"]) == (200, 0)
    view(museum, "/folder/b.glb/1.bin")
    answer = museum.change("DELETE", "deleteAuxiliaryPreviewAssetFiles", {"filePath": "/"})
    assert (answer.status, answer.body["deletedCount"]) == (200, 2)  # all of the asset
    assert views(museum) == []
