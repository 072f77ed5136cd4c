"""Files are moved and copied onto paths where an archived file is."""

from collections.abc import Mapping
from typing import Any

import pytest

from backend.core.objects import ObjectRefusedError
from backend.domains.metadata.models import Entity, Record
from backend.entrypoints.wiring.metadata import records
from backend.spec.key_layouts import glb_key
from tests.factories.assets import created_asset, created_database
from tests.factories.files import BUCKET, Gallery, gallery
from tests.fakes.objects import MemoryObjects
from tests.unit.domains.files.changes import (
    TickingClock,
    body_of,
    memory,
    note,
    notes,
    state_of,
    view,
    views,
)

THERE = {"sourcePath": "/a.glb", "destinationPath": "/b.glb"}
BACK = {"sourcePath": "/b.glb", "destinationPath": "/a.glb"}


@pytest.fixture
def objects() -> MemoryObjects:
    return memory()[1]


@pytest.fixture
def museum(objects: MemoryObjects) -> Gallery:
    return gallery(memory()[0], objects, clock=TickingClock())


def change(museum: Gallery, verb: str, body: Mapping[str, Any], method: str = "POST") -> None:
    answer = museum.change(method, verb, dict(body))
    assert answer.status == 200, answer.body


def fact(museum: Gallery, path: str, value: str) -> None:
    """Give a file a fact, as its inspection does."""
    entity = Entity("museum", "statue", path, "attribute")
    record = Record(metadata_key="fact_format", metadata_value=value)
    records(museum.changing).put_facts(entity, [record])


def bodies(objects: MemoryObjects, path: str) -> list[bytes | None]:
    """The versions of a path, the newest first; None is a delete marker."""
    stored = objects.buckets[BUCKET]["statue" + path]
    return [None if one.version.is_delete_marker else one.body for one in stored]


def test_a_renamed_file_is_renamed_back_with_all_that_belongs_to_it(
    museum: Gallery, objects: MemoryObjects
) -> None:
    museum.put("/a.glb", b"marble")
    museum.put("/a.glb.previewFile.png", b"png")
    note(museum, "/a.glb", "year", "1889")
    note(museum, "/a.glb", "maker", "Rodin", kind="attribute")
    view(museum, "/a.glb/octree.bin")
    change(museum, "moveFile", THERE)
    change(museum, "moveFile", BACK)
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
    change(museum, "moveFile", THERE)
    assert state_of(objects)["/b.glb"] == "active"


@pytest.mark.parametrize("verb", ["moveFile", "copyFile"])
def test_content_becomes_the_newest_version_of_an_archived_file(
    museum: Gallery, objects: MemoryObjects, verb: str
) -> None:
    museum.put("/a.glb", b"new")
    old = museum.put("/b.glb", b"old")
    fact(museum, "/b.glb", "glTF2")
    fact(museum, "/a.glb", "OBJ")
    change(museum, "archiveFile", {"filePath": "/b.glb"}, "DELETE")
    change(museum, verb, THERE)
    assert bodies(objects, "/b.glb") == [b"new", None, b"old"]
    assert notes(museum, "/b.glb", kind="attribute") == {"fact_format": "OBJ"}
    answer = museum.change("POST", "revertFileVersion", {"filePath": "/b.glb"}, versionId=old)
    assert answer.status == 200
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
    change(museum, "archiveFile", {"filePath": "/b.glb"}, "DELETE")
    answer = museum.change("POST", verb, THERE)
    assert (answer.status, answer.body["code"]) == (409, "FileExists")
    assert answer.body["message"] == (
        f"Asset statue already has an archived file /b.glb, whose {data} would be replaced: "
        "restore it, or delete it first"
    )
    assert bodies(objects, "/b.glb") == [None, b"old"]


@pytest.mark.parametrize("fails", ["store", "viewer data"])
def test_a_failed_copy_leaves_an_archived_file_as_it_was(
    museum: Gallery, objects: MemoryObjects, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    new = museum.put("/a.glb", b"new")
    note(museum, "/a.glb", "year", "1889")
    fact(museum, "/a.glb", "OBJ")
    view(museum, "/a.glb/octree.bin")
    old = museum.put("/b.glb", b"old")
    fact(museum, "/b.glb", "glTF2")
    glbs = [
        glb_key("statue", path, version_id).removeprefix("statue")
        for path, version_id in (("/a.glb", new), ("/b.glb", old))
    ]
    for glb in glbs:
        view(museum, glb)
    change(museum, "archiveFile", {"filePath": "/b.glb"}, "DELETE")
    copy = MemoryObjects.copy

    def refusing(self: MemoryObjects, source: Any, target: Any, **more: Any) -> Any:
        if target.key == "statue/b.glb" if fails == "store" else "octree" in target.key:
            raise ObjectRefusedError("the copy", "refused")
        return copy(self, source, target, **more)

    with monkeypatch.context() as patched:
        patched.setattr(MemoryObjects, "copy", refusing)
        answer = museum.change("POST", "copyFile", THERE)
    assert (answer.status, answer.body["code"]) == (409, "FileChangeFailed")
    assert bodies(objects, "/b.glb") == [None, b"old"]
    assert notes(museum, "/b.glb") == {}
    kept = {"fact_format": "glTF2"} if fails == "store" else {}  # replaced before the failure
    assert notes(museum, "/b.glb", kind="attribute") == kept
    assert views(museum) == ["/a.glb/octree.bin", *glbs]
    change(museum, "unarchiveFile", {"filePath": "/b.glb"})
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
    change(museum, "copyFile", {**THERE, **to})
    assert state_of(objects, "bust/") == {"/b.glb": "active"}
    assert notes(museum, "/b.glb", ids=("archive", "bust")) == {"year": "1889"}
