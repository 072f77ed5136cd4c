"""Data that belongs to a file, and copies to the paths of archived files."""

from collections.abc import Callable
from typing import Any, cast
from unittest.mock import patch

import pytest

from backend.core.objects import ObjectRefusedError
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.rows import FileTarget
from backend.domains.metadata.models import Entity, Record
from backend.entrypoints.wiring.metadata import records
from backend.spec.buckets import CHANGE_METADATA, WORKFLOWS_METADATA
from backend.spec.key_layouts import glb_key, structure_key, turntable_key
from tests.factories.assets import created_asset, created_database
from tests.factories.files import BUCKET, Gallery, gallery
from tests.factories.quarantine import quarantine
from tests.fakes.objects import MemoryObjects
from tests.unit.domains.files.changes import (
    DELETE,
    MOVE,
    body_of,
    change,
    create_strict_asset,
    head_of,
    memory,
    note,
    notes,
    state_of,
    view,
    views,
)

PREVIEW = ".previewFile.png"


def test_a_repeated_step_copies_no_preview_again_and_copies_keep_the_tags_of_users() -> None:
    tables, objects = memory()
    museum = gallery(tables, objects)
    for path in ("/a.glb", f"/a.glb{PREVIEW}"):
        museum.put(path)
    objects.tag(BUCKET, f"statue/a.glb{PREVIEW}", {"project": "x"})
    records = cast("Any", None)  # previews have none
    companions = Companions(objects, records, quarantine(tables), "auxiliary")
    source, target = (
        FileTarget(museum.asset, BUCKET, "statue/", key) for key in ("statue/a.glb", "statue/b.glb")
    )

    def versions_after(change: str) -> int:
        companions.copy_previews(source, target, change)
        return len(objects.list_versions(BUCKET, f"statue/b.glb{PREVIEW}").versions)

    assert [versions_after(change) for change in ("one", "one", "another")] == [1, 1, 2]
    copied = head_of(objects, f"/b.glb{PREVIEW}").version
    assert objects.tags(BUCKET, copied.key, version_id=copied.version_id) == {"project": "x"}


@pytest.mark.parametrize("large_bytes", [1000, 1])
def test_a_copy_keeps_the_tags_of_users_and_not_that_of_a_scan(large_bytes: int) -> None:
    tables, objects = memory()
    museum = gallery(tables, objects, large_bytes=large_bytes)
    museum.put("/a.glb")
    scan = {"GuardDutyMalwareScanStatus": "NO_THREATS_FOUND"}
    objects.tag(BUCKET, "statue/a.glb", {"project": "x", "aws:service": "y", **scan})
    assert museum.change("POST", "moveFile", MOVE).status == 200
    version = head_of(objects, "/parts/b.glb").version
    assert objects.tags(BUCKET, version.key, version_id=version.version_id) == {"project": "x"}


OBJ = {"sourcePath": "/a.obj", "destinationPath": "/b.obj"}


def shown(museum: Gallery, path: str, version_id: str, body: bytes = b"glTF") -> str:
    """The path of a GLB that was made of a version."""
    path = glb_key("statue", path, version_id).removeprefix("statue")
    view(museum, path, body)
    return path


@pytest.mark.parametrize("verb", ["copyFile", "moveFile"])
def test_a_copy_has_the_glb_of_its_source_under_its_own_version(museum: Gallery, verb: str) -> None:
    made_of = shown(museum, "/a.obj", museum.put("/a.obj"), b"glTF of a")
    change(museum, "POST", verb, OBJ)
    copied = glb_key("statue", "/b.obj", head_of(museum.objects, "/b.obj").version.version_id)
    assert views(museum) == [made_of, copied.removeprefix("statue")]


def test_a_deleted_file_takes_the_glbs_of_all_its_versions(museum: Gallery) -> None:
    for _ in range(2):
        shown(museum, "/a.obj", museum.put("/a.obj"))
    kept = shown(museum, "/a.obj.bak/b.obj", museum.put("/a.obj.bak/b.obj"))
    change(museum, "DELETE", "deleteFile", {**DELETE, "filePath": "/a.obj"})
    assert views(museum) == [kept]


def test_a_deleted_folder_takes_the_glbs_of_its_files_and_its_own_metadata(
    museum: Gallery,
) -> None:
    shown(museum, "/parts/a.obj", museum.put("/parts/a.obj"))
    kept = shown(museum, "/b.obj", museum.put("/b.obj"))
    note(museum, "/parts", "material", "steel")
    body = {"filePath": "/parts/", "isPrefix": True, "confirmPermanentDelete": True}
    assert museum.change("DELETE", "deleteFile", body).status == 200
    assert views(museum) == [kept]
    assert notes(museum, "/parts") == {}


@pytest.mark.parametrize("key_of", [turntable_key, structure_key])
def test_what_is_beside_a_glb_goes_with_it(
    museum: Gallery, key_of: Callable[[str, str, str], str]
) -> None:
    version = museum.put("/a.obj")
    view(museum, key_of("statue", "/a.obj", version).removeprefix("statue"), b"PNG")
    change(museum, "POST", "copyFile", OBJ)
    copied = head_of(museum.objects, "/b.obj").version.version_id
    kept = key_of("statue", "/b.obj", copied).removeprefix("statue")
    assert kept in views(museum)
    change(museum, "DELETE", "deleteFile", {**DELETE, "filePath": "/a.obj"})
    assert views(museum) == [kept]


def test_a_copy_by_a_user_is_no_output_of_a_workflow(museum: Gallery) -> None:
    written = {WORKFLOWS_METADATA: "museum:convert", CHANGE_METADATA: "e1"}
    museum.objects.put(BUCKET, "statue/a.obj", b"o", content_type="", metadata=written)
    change(museum, "POST", "copyFile", OBJ)
    assert WORKFLOWS_METADATA not in head_of(museum.objects, "/b.obj").metadata


FACTS = {"fact_triangles": "12", "fact_shape": "AAAA"}


def put_facts(museum: Gallery, path: str = "/a.glb", **facts: str) -> None:
    """Give a file facts, as its inspection does."""
    entity = Entity("museum", "statue", path, "attribute")
    rows = [Record(metadata_key=key, metadata_value=text) for key, text in facts.items()]
    records(museum.changing).put_facts(entity, rows)


@pytest.mark.parametrize(
    ("method", "verb", "body"), [("POST", "moveFile", MOVE), ("DELETE", "deleteFile", DELETE)]
)
def test_facts_move_with_their_file_and_are_deleted_with_it(
    museum: Gallery, method: str, verb: str, body: dict[str, Any]
) -> None:
    museum.put("/a.glb")
    put_facts(museum, **FACTS)
    change(museum, method, verb, body)
    assert notes(museum, "/a.glb", kind="attribute") == {}
    kept = FACTS if verb == "moveFile" else {}
    assert notes(museum, "/parts/b.glb", kind="attribute") == kept


@pytest.mark.parametrize("own", [{}, {"year": "1889"}])
def test_facts_are_copied_into_a_database_whose_schemas_know_no_such_keys(
    museum: Gallery, own: dict[str, str]
) -> None:
    museum.put("/a.glb")
    put_facts(museum, **FACTS)
    to = create_strict_asset(museum, "fileAttribute")
    for key, value in own.items():
        note(museum, "/a.glb", key, value, kind="attribute")
    change(museum, "POST", "copyFile", MOVE | to)
    kept = notes(museum, "/parts/b.glb", kind="attribute", ids=("strict", "bust"))
    assert kept == FACTS | own


THERE = {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}
BACK = {"sourcePath": "/b.glb", "destinationPath": "/a.glb"}


def bodies(objects: MemoryObjects, path: str) -> list[bytes | None]:
    """The versions of a path, the newest first; None is a delete marker."""
    stored = objects.buckets[BUCKET]["statue" + path]
    return [None if item.version.is_delete_marker else item.body for item in stored]


def test_a_renamed_file_is_renamed_back_with_all_that_belongs_to_it(
    museum: Gallery, objects: MemoryObjects
) -> None:
    museum.put("/a.glb", b"marble")
    museum.put("/a.glb.previewFile.png", b"png")
    note(museum, "/a.glb", "year", "1889")
    note(museum, "/a.glb", "maker", "Rodin", kind="attribute")
    view(museum, "/a.glb/octree.bin")
    change(museum, "POST", "moveFile", THERE)
    change(museum, "POST", "moveFile", BACK)
    assert state_of(objects) == {
        "/a.glb": "active",
        "/a.glb.previewFile.png": "active",
        "/b.glb": "archived",
        "/b.glb.previewFile.png": "archived",
    }
    assert bodies(objects, "/a.glb") == [b"marble", None, b"marble"]
    assert notes(museum, "/a.glb") == {"year": "1889"}
    assert notes(museum, "/a.glb", kind="attribute") == {"maker": "Rodin"}
    assert notes(museum, "/b.glb") == {}
    assert views(museum) == ["/a.glb/octree.bin"]
    change(museum, "POST", "moveFile", THERE)
    assert state_of(objects)["/b.glb"] == "active"


@pytest.mark.parametrize("verb", ["moveFile", "copyFile"])
def test_content_becomes_the_newest_version_of_an_archived_file(
    museum: Gallery, objects: MemoryObjects, verb: str
) -> None:
    museum.put("/a.glb", b"new")
    old = museum.put("/b.glb", b"old")
    put_facts(museum, "/b.glb", fact_format="glTF2")
    put_facts(museum, "/a.glb", fact_format="OBJ")
    change(museum, "DELETE", "archiveFile", {"filePath": "/b.glb"})
    change(museum, "POST", verb, THERE)
    assert bodies(objects, "/b.glb") == [b"new", None, b"old"]
    assert notes(museum, "/b.glb", kind="attribute") == {"fact_format": "OBJ"}
    change(museum, "POST", "revertFileVersion", {"filePath": "/b.glb"}, versionId=old)
    assert body_of(objects, "/b.glb") == b"old"


@pytest.mark.parametrize("verb", ["moveFile", "copyFile"])
@pytest.mark.parametrize("data", ["metadata", "attributes", "viewer data"])
def test_data_without_versions_of_an_archived_file_is_not_replaced(
    museum: Gallery, objects: MemoryObjects, verb: str, data: str
) -> None:
    museum.put("/a.glb", b"new")
    museum.put("/b.glb", b"old")
    if data == "viewer data":
        view(museum, "/b.glb/octree.bin")
    else:
        kind = "metadata" if data == "metadata" else "attribute"
        note(museum, "/b.glb", "year", "1889", kind=kind)
    change(museum, "DELETE", "archiveFile", {"filePath": "/b.glb"})
    answer = museum.change("POST", verb, THERE)
    assert (answer.status, answer.body["code"]) == (409, "FileExists")
    assert answer.body["message"] == (
        f"Asset statue already has an archived file /b.glb, whose {data} would be replaced: "
        "restore it, or delete it first"
    )
    assert bodies(objects, "/b.glb") == [None, b"old"]


@pytest.mark.parametrize("fails", ["store", "viewer data"])
def test_a_failed_copy_leaves_an_archived_file_as_it_was(
    museum: Gallery, objects: MemoryObjects, fails: str
) -> None:
    new = museum.put("/a.glb", b"new")
    note(museum, "/a.glb", "year", "1889")
    put_facts(museum, "/a.glb", fact_format="OBJ")
    view(museum, "/a.glb/octree.bin")
    old = museum.put("/b.glb", b"old")
    put_facts(museum, "/b.glb", fact_format="glTF2")
    glbs = [
        glb_key("statue", path, version_id).removeprefix("statue")
        for path, version_id in (("/a.glb", new), ("/b.glb", old))
    ]
    for glb in glbs:
        view(museum, glb)
    change(museum, "DELETE", "archiveFile", {"filePath": "/b.glb"})
    copy = MemoryObjects.copy

    def refuse(self: MemoryObjects, source: Any, target: Any, **more: Any) -> Any:
        if target.key == "statue/b.glb" if fails == "store" else "octree" in target.key:
            raise ObjectRefusedError("the copy", "refused")
        return copy(self, source, target, **more)

    with patch.object(MemoryObjects, "copy", refuse):
        answer = museum.change("POST", "copyFile", THERE)
    assert (answer.status, answer.body["code"]) == (409, "FileChangeFailed")
    assert bodies(objects, "/b.glb") == [None, b"old"]
    assert notes(museum, "/b.glb") == {}
    kept = {"fact_format": "glTF2"} if fails == "store" else {}  # replaced before the failure
    assert notes(museum, "/b.glb", kind="attribute") == kept
    assert views(museum) == ["/a.glb/octree.bin", *glbs]
    change(museum, "POST", "unarchiveFile", {"filePath": "/b.glb"})
    assert body_of(objects, "/b.glb") == b"old"


def test_a_file_is_copied_onto_an_archived_one_of_another_database(
    museum: Gallery, objects: MemoryObjects
) -> None:
    created_database(museum.assets, "archive")
    created_asset(museum.assets, "bust", database_id="archive")
    museum.put("/a.glb", b"new")
    note(museum, "/a.glb", "year", "1889")
    objects.put(BUCKET, "bust/b.glb", b"old", content_type="", metadata={})
    objects.delete(BUCKET, "bust/b.glb")
    to = {"destinationAssetId": "bust", "destinationDatabaseId": "archive"}
    change(museum, "POST", "copyFile", {**THERE, **to})
    assert state_of(objects, "bust/") == {"/b.glb": "active"}
    assert notes(museum, "/b.glb", ids=("archive", "bust")) == {"year": "1889"}
