"""How many requests to S3 a listing takes, and that it lists the primary types all the same."""

from collections.abc import Callable

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.objects import ObjectHead
from backend.core.transactions import Update
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.rules import MAX_TYPED_FILES
from backend.spec.tables.assets import ASSETS
from tests.factories.files import BUCKET, GLB, Gallery, gallery
from tests.fakes.counting import requests_of as s3_requests
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import change, forget_types, memory, snapshot
from tests.unit.domains.files.test_files import row

TYPED = {"filePath": "/a.glb", "primaryType": "primary"}
KEY = {"databaseId": "museum", "assetId": "statue"}


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


@pytest.mark.parametrize("count", [1, 50, 300])
def test_a_list_takes_two_requests_for_a_thousand_files(museum: Gallery, count: int) -> None:
    put(museum, *(f"/{number:03}.glb" for number in range(count)))
    assert requests_of(museum, pageSize="1000") == ["list", "list"]
    assert len(requests_of(museum, pageSize="1000", includeArchived="true")) == 1
    listed = museum.list_files(pageSize="1000").body["items"]
    described = [museum.file_info(item["relativePath"]).body for item in listed[:3]]
    for name in ("versionId", "storageClass", "primaryType", "size", "isArchived"):
        assert [item[name] for item in listed[:3]] == [item[name] for item in described]


def test_a_list_of_a_version_takes_as_few(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    files = put(museum, *(f"/{number:02}.glb" for number in range(50)))
    put(museum, *files)
    snapshot(tables, "1", files)
    objects.delete_version(BUCKET, "statue/07.glb", version_id=files["/07.glb"])
    assert requests_of(museum, pageSize="1000", assetVersionId="1") == ["list"]
    rows = museum.list_files(pageSize="1000", assetVersionId="1").body["items"]
    gone = [row["relativePath"] for row in rows if row["isPermanentlyDeleted"]]
    assert gone == ["/07.glb"]
    assert {row["relativePath"]: row["versionId"] for row in rows} == files


def test_old_versions_of_a_key_between_others_are_passed_over(
    museum: Gallery, objects: MemoryObjects
) -> None:
    for _ in range(300):
        museum.put("/0.gla~old", b"x")
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
    change(museum, "POST", "copyFile", paths)
    return "/b/c.glb"


def moved(museum: Gallery) -> str:
    paths = {"sourcePath": "/a.glb", "destinationPath": "/m.glb"}
    change(museum, "POST", "moveFile", paths)
    return "/m.glb"


def restored(museum: Gallery) -> str:
    change(museum, "DELETE", "archiveFile", {"filePath": "/a.glb"})
    change(museum, "POST", "unarchiveFile", {"filePath": "/a.glb"})
    return "/a.glb"


def reverted(museum: Gallery) -> str:
    version = museum.file_info("/a.glb").body["versionId"]
    put(museum, "/a.glb")
    assert types(museum)["/a.glb"] == ""
    change(museum, "POST", "revertFileVersion", {"filePath": "/a.glb"}, versionId=version)
    return "/a.glb"


@pytest.mark.parametrize("make", [set_it, copied, moved, restored, reverted])
def test_a_primary_type_is_listed_wherever_a_change_writes_it(
    museum: Gallery, make: Callable[[Gallery], str]
) -> None:
    put(museum, "/a.glb", *(f"/{number:02}.glb" for number in range(20)))
    change(museum, "PUT", "setPrimaryFile", TYPED)
    path = make(museum)
    assert types(museum)[path] == "primary"
    assert types(museum, includeArchived="true")[path] == "primary"
    assert row(museum, path)["versionId"] == museum.file_info(path).body["versionId"]
    assert requests_of(museum).count("head") <= 2
    change(museum, "PUT", "setPrimaryFile", {"filePath": path, "primaryType": ""})
    assert types(museum)[path] == ""


def test_a_primary_type_is_listed_in_versions(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    put(museum, "/a.glb", "/b.glb")
    change(museum, "PUT", "setPrimaryFile", TYPED)
    held = {item: museum.file_info(item).body["versionId"] for item in ("/a.glb", "/b.glb")}
    snapshot(tables, "1", held)
    change(museum, "PUT", "setPrimaryFile", {**TYPED, "primaryType": ""})
    assert types(museum, assetVersionId="1") == {"/a.glb": "primary", "/b.glb": ""}
    assert types(museum) == {"/a.glb": "", "/b.glb": ""}


def test_the_types_of_files_are_read_where_the_asset_does_not_know_them(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    metadata = {"vams-primarytype": "lod1"}
    put(museum, "/a.glb")
    objects.put(BUCKET, "statue/b.glb", GLB, content_type="x/y", metadata=metadata)
    forget_types(tables)
    assert types(museum) == {"/a.glb": "", "/b.glb": "lod1"}
    assert requests_of(museum).count("head") == 2
    change(museum, "PUT", "setPrimaryFile", TYPED)
    assert types(museum) == {"/a.glb": "primary", "/b.glb": "lod1"}


def test_an_asset_of_too_many_typed_files_names_none_of_them(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    named = [f"/{number}.glb" for number in range(MAX_TYPED_FILES)]
    tables.write(Update(table=ASSETS, key=KEY, set={"typedFiles": named}))
    put(museum, "/a.glb", "/b.glb")
    change(museum, "PUT", "setPrimaryFile", TYPED)
    asset = museum.stored_asset()
    assert asset.typed_files is None
    assert types(museum) == {"/a.glb": "primary", "/b.glb": ""}


def test_of_typed_files_that_are_noted_at_once_none_is_lost(
    museum: Gallery, tables: MemoryTables
) -> None:
    stale = museum.stored_asset()
    for path in ("/a.glb", "/b.glb", "/a.glb"):
        museum.assets.record_typed_file(stale, path)
    assert museum.stored_asset().typed_files == ["/a.glb", "/b.glb"]
    tables.delete_many(ASSETS, [KEY])
    with pytest.raises(AssetNotFoundError):
        museum.assets.record_typed_file(stale, "/a.glb")


def test_the_path_is_noted_before_the_object_is_written(
    museum: Gallery, objects: MemoryObjects
) -> None:
    put(museum, "/a.glb")
    noted: list[list[str] | None] = []

    def look(operation: str) -> None:
        if operation == "copy":
            noted.append(museum.stored_asset().typed_files)

    objects.before = look
    change(museum, "PUT", "setPrimaryFile", TYPED)
    assert noted == [["/a.glb"]]
    assert isinstance(objects.head(BUCKET, "statue/a.glb"), ObjectHead)


def test_an_asset_created_from_a_folder_requests_the_types_of_its_objects() -> None:
    tables, objects = memory()
    metadata = {"vams-primarytype": "lod1"}
    objects.put(BUCKET, "statue/b.glb", GLB, content_type="x/y", metadata=metadata)
    assert types(gallery(tables, objects)) == {"/b.glb": "lod1"}


def test_a_list_sends_two_requests_to_s3_and_two_more_for_a_thousand_files(
    tables: MemoryTables,
) -> None:
    s3().create_bucket(Bucket=BUCKET)
    museum = gallery(tables, S3Objects(s3()))
    for number in range(303):
        museum.put(f"/{number:03}.glb", b"")
    museum.list_files()  # notes that no file has a primary type
    with s3_requests(s3()) as counts:
        assert len(museum.list_files(pageSize="300").body["items"]) == 300
    assert counts == {"ListObjectsV2": 1, "ListObjectVersions": 1}


def test_a_page_has_a_hundred_rows_unless_more_are_requested_and_basic_ones_have_more(
    museum: Gallery,
) -> None:
    put(museum, *(f"/{number:03}.glb" for number in range(103)))
    first = museum.list_files().body
    assert (len(first["items"]), bool(first["NextToken"])) == (100, True)
    for rows, query in (
        (103, {"maxItems": "5000"}),
        (101, {"maxItems": "5000", "pageSize": "101"}),
        (103, {"basic": "true"}),
    ):
        assert len(museum.list_files(**query).body["items"]) == rows
