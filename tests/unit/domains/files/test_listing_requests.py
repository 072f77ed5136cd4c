"""How many requests to S3 a listing takes, and that it lists the primary types all the same."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.core.objects import ObjectHead
from backend.core.tables import Tables
from backend.core.transactions import Update
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.rules import MAX_TYPED_FILES
from backend.spec.tables.assets import ASSETS
from tests.factories.files import BUCKET, GLB, Gallery, gallery
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import forget_types, memory
from tests.unit.domains.files.test_files import row, snapshot

TYPED = {"filePath": "/a.glb", "primaryType": "primary"}
KEY = {"databaseId": "museum", "assetId": "statue"}


@pytest.fixture
def stores() -> tuple[MemoryTables, MemoryObjects]:
    return memory()


@pytest.fixture
def museum(stores: tuple[MemoryTables, MemoryObjects]) -> Gallery:
    return gallery(*stores)


def requests_of(museum: Gallery, **query: str) -> list[str]:
    """The requests to S3 of one listing."""
    objects = museum.objects
    assert isinstance(objects, MemoryObjects)
    seen: list[str] = []
    before, objects.before = objects.before, seen.append
    answer = museum.list_files(**query)
    objects.before = before
    assert answer.status == 200, answer.body
    return seen


def types(museum: Gallery, **query: str) -> dict[str, str]:
    rows = museum.list_files(**query).body["items"]
    return {row["relativePath"]: row.get("primaryType") for row in rows if not row["isFolder"]}


def put(museum: Gallery, *paths: str) -> dict[str, str]:
    return {path: museum.put(path, GLB) for path in paths}


def changed(museum: Gallery, method: str, verb: str, body: Any) -> None:
    answer = museum.change(method, verb, body)
    assert answer.status == 200, answer.body


@pytest.mark.parametrize("count", [1, 50, 300])
def test_a_list_takes_two_requests_for_a_thousand_files(museum: Gallery, count: int) -> None:
    put(museum, *(f"/{number:03}.glb" for number in range(count)))
    assert requests_of(museum, pageSize="1000") == ["list", "list"]
    assert len(requests_of(museum, pageSize="1000", includeArchived="true")) == 1
    listed = museum.list_files(pageSize="1000").body["items"]
    described = [museum.file_info(one["relativePath"]).body for one in listed[:3]]
    for name in ("versionId", "storageClass", "primaryType", "size", "isArchived"):
        assert [one[name] for one in listed[:3]] == [one[name] for one in described]


def test_a_list_of_a_version_takes_as_few(
    museum: Gallery, stores: tuple[MemoryTables, MemoryObjects]
) -> None:
    files = put(museum, *(f"/{number:02}.glb" for number in range(50)))
    put(museum, *files)
    snapshot(stores[0], "1", files)
    stores[1].delete_version(BUCKET, "statue/07.glb", version_id=files["/07.glb"])
    assert requests_of(museum, pageSize="1000", assetVersionId="1") == ["list"]
    rows = museum.list_files(pageSize="1000", assetVersionId="1").body["items"]
    gone = [row["relativePath"] for row in rows if row["isPermanentlyDeleted"]]
    assert gone == ["/07.glb"]
    assert {row["relativePath"]: row["versionId"] for row in rows} == files


def test_old_versions_of_a_key_between_others_are_passed_over(museum: Gallery) -> None:
    for _ in range(300):
        museum.put("/0.gla~old", b"x")
    objects = museum.objects
    assert isinstance(objects, MemoryObjects)
    objects.delete(BUCKET, "statue/0.gla~old")
    latest = put(museum, "/0.glb")
    looks: list[str] = []

    def look(operation: str) -> None:
        looks.append(operation)
        assert len(looks) < 10, "the listing does not advance"

    objects.before = look
    rows = museum.list_files().body["items"]
    assert {row["relativePath"]: row["versionId"] for row in rows} == latest
    assert len(looks) <= 3


def set_it(museum: Gallery) -> str:
    return "/a.glb"


def copied(museum: Gallery) -> str:
    paths = {"sourcePath": "/a.glb", "destinationPath": "/b/c.glb"}
    changed(museum, "POST", "copyFile", paths)
    return "/b/c.glb"


def moved(museum: Gallery) -> str:
    paths = {"sourcePath": "/a.glb", "destinationPath": "/m.glb"}
    changed(museum, "POST", "moveFile", paths)
    return "/m.glb"


def restored(museum: Gallery) -> str:
    changed(museum, "DELETE", "archiveFile", {"filePath": "/a.glb"})
    changed(museum, "POST", "unarchiveFile", {"filePath": "/a.glb"})
    return "/a.glb"


def reverted(museum: Gallery) -> str:
    version = museum.file_info("/a.glb").body["versionId"]
    put(museum, "/a.glb")
    assert types(museum)["/a.glb"] == ""
    answer = museum.change("POST", "revertFileVersion", {"filePath": "/a.glb"}, versionId=version)
    assert answer.status == 200, answer.body
    return "/a.glb"


@pytest.mark.parametrize("change", [set_it, copied, moved, restored, reverted])
def test_a_primary_type_is_listed_wherever_a_change_writes_it(
    museum: Gallery, change: Callable[[Gallery], str]
) -> None:
    put(museum, "/a.glb", *(f"/{number:02}.glb" for number in range(20)))
    changed(museum, "PUT", "setPrimaryFile", TYPED)
    path = change(museum)
    assert types(museum)[path] == "primary"
    assert types(museum, includeArchived="true")[path] == "primary"
    assert row(museum, path)["versionId"] == museum.file_info(path).body["versionId"]
    assert requests_of(museum).count("head") <= 2
    changed(museum, "PUT", "setPrimaryFile", {"filePath": path, "primaryType": ""})
    assert types(museum)[path] == ""


def test_a_primary_type_is_listed_in_versions(
    museum: Gallery, stores: tuple[MemoryTables, MemoryObjects]
) -> None:
    put(museum, "/a.glb", "/b.glb")
    changed(museum, "PUT", "setPrimaryFile", TYPED)
    held = {one: museum.file_info(one).body["versionId"] for one in ("/a.glb", "/b.glb")}
    snapshot(stores[0], "1", held)
    changed(museum, "PUT", "setPrimaryFile", {**TYPED, "primaryType": ""})
    assert types(museum, assetVersionId="1") == {"/a.glb": "primary", "/b.glb": ""}
    assert types(museum) == {"/a.glb": "", "/b.glb": ""}


def test_the_types_of_files_are_read_where_the_asset_does_not_know_them(
    museum: Gallery, stores: tuple[MemoryTables, MemoryObjects]
) -> None:
    tables, objects = stores
    metadata = {"vams-primarytype": "lod1"}
    put(museum, "/a.glb")
    objects.put(BUCKET, "statue/b.glb", GLB, content_type="x/y", metadata=metadata)
    forget_types(tables)
    assert types(museum) == {"/a.glb": "", "/b.glb": "lod1"}
    assert requests_of(museum).count("head") == 2
    changed(museum, "PUT", "setPrimaryFile", TYPED)
    assert types(museum) == {"/a.glb": "primary", "/b.glb": "lod1"}


def test_an_asset_of_too_many_typed_files_names_none_of_them(
    museum: Gallery, stores: tuple[MemoryTables, MemoryObjects]
) -> None:
    named = [f"/{number}.glb" for number in range(MAX_TYPED_FILES)]
    stores[0].write(Update(table=ASSETS, key=KEY, set={"typedFiles": named}))
    put(museum, "/a.glb", "/b.glb")
    changed(museum, "PUT", "setPrimaryFile", TYPED)
    asset = museum.assets.find_asset("museum", "statue")
    assert asset is not None
    assert asset.typed_files is None
    assert types(museum) == {"/a.glb": "primary", "/b.glb": ""}


def test_of_typed_files_that_are_noted_at_once_none_is_lost(museum: Gallery) -> None:
    stale = museum.assets.find_asset("museum", "statue")
    assert stale is not None
    for path in ("/a.glb", "/b.glb", "/a.glb"):
        museum.assets.record_typed_file(stale, path)
    asset = museum.assets.find_asset("museum", "statue")
    assert asset is not None
    assert asset.typed_files == ["/a.glb", "/b.glb"]


def test_no_file_of_a_deleted_asset_is_noted(
    museum: Gallery, stores: tuple[MemoryTables, MemoryObjects]
) -> None:
    stale = museum.assets.find_asset("museum", "statue")
    assert stale is not None
    stores[0].delete_many(ASSETS, [KEY])
    with pytest.raises(AssetNotFoundError):
        museum.assets.record_typed_file(stale, "/a.glb")


def test_the_path_is_noted_before_the_object_is_written(
    museum: Gallery, stores: tuple[MemoryTables, MemoryObjects]
) -> None:
    put(museum, "/a.glb")
    noted: list[list[str] | None] = []

    def look(operation: str) -> None:
        if operation == "copy":
            asset = museum.assets.find_asset("museum", "statue")
            assert asset is not None
            noted.append(asset.typed_files)

    stores[1].before = look
    changed(museum, "PUT", "setPrimaryFile", TYPED)
    assert noted == [["/a.glb"]]
    head = stores[1].head(BUCKET, "statue/a.glb")
    assert isinstance(head, ObjectHead)


def test_an_asset_created_from_a_folder_requests_the_types_of_its_objects(
    tables: Tables,
) -> None:
    _, objects = memory()
    metadata = {"vams-primarytype": "lod1"}
    objects.put(BUCKET, "statue/b.glb", GLB, content_type="x/y", metadata=metadata)
    assert types(gallery(tables, objects)) == {"/b.glb": "lod1"}
