"""Making folders, moving, copying, archiving and bringing back, over ports in memory."""

from typing import Any
from unittest.mock import patch

import pytest

from backend.spec.tables.operations import RESERVATIONS
from tests.factories.access import OnlyUser
from tests.factories.assets import created_asset, created_database
from tests.factories.files import BUCKET, Gallery, gallery
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import (
    DELETE,
    FILE,
    MOVE,
    TickingClock,
    audit_entries,
    body_of,
    change,
    create_strict_asset,
    head_of,
    note,
    notes,
    state_of,
    view,
    views,
)


def furnished(museum: Gallery, path: str = "/a.glb") -> None:
    """A file with all that can belong to one."""
    museum.objects.put(
        BUCKET,
        "statue" + path,
        b"marble",
        content_type="model/x-mine",
        metadata={"vams-primarytype": "primary", "vitrine-upload": "y1", "vitrine-sha256": "abc"},
    )
    museum.put(f"{path}.previewFile.png", b"png")
    note(museum, path, "year", "1889")
    note(museum, path, "vertices", "12", kind="attribute")
    view(museum, f"{path}/potree/octree.bin")
    view(museum, f"{path}/potree/hierarchy.bin")


@pytest.mark.parametrize(
    ("method", "verb", "body", "owner"),
    [
        ("POST", "moveFile", MOVE, "/parts/b.glb"),
        ("DELETE", "archiveFile", FILE, "/a.glb"),
        ("DELETE", "deleteFile", DELETE, None),
    ],
)
def test_auxiliary_files_of_the_asset_remain_when_a_file_changes(
    museum: Gallery, method: str, verb: str, body: dict[str, Any], owner: str | None
) -> None:
    furnished(museum)
    view(museum, "/PotreeViewer/cloud.js")
    change(museum, method, verb, body)
    names = ("hierarchy.bin", "octree.bin") if owner else ()
    kept = [f"{owner}/potree/{name}" for name in names]
    assert views(museum) == sorted(["/PotreeViewer/cloud.js", *kept])


def test_a_folder_is_made_once(museum: Gallery, objects: MemoryObjects) -> None:
    answer = museum.change("POST", "createFolder", {"relativeKey": "/parts/new/"})
    assert (answer.status, answer.body["relativeKey"]) == (200, "/parts/new/")
    assert state_of(objects) == {"/parts/new/": "active"}
    again = museum.change("POST", "createFolder", {"relativeKey": "parts/new/"})
    assert (again.status, again.body["code"]) == (409, "FileExists")
    museum.put("/a.glb")
    named = museum.change("POST", "createFolder", {"relativeKey": "/a.glb/"})
    assert (named.status, named.body["code"]) == (409, "FileExists")


@pytest.mark.parametrize("sent", ["/parts", "/", "/../x/", "/a//b/", "/" + "ä" * 600 + "/", ""])
def test_a_folder_with_a_path_that_it_may_not_have_is_refused(museum: Gallery, sent: str) -> None:
    answer = museum.change("POST", "createFolder", {"relativeKey": sent})
    assert (answer.status, answer.body["code"]) == (400, "InvalidInput")


def test_a_file_moves_with_all_that_belongs_to_it(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    furnished(museum)
    answer = museum.change("POST", "moveFile", MOVE)
    assert (answer.status, answer.body["affectedFiles"]) == (200, ["/a.glb", "/parts/b.glb"])
    assert "jobId" not in answer.body
    assert state_of(objects) == {
        "/a.glb": "archived",
        "/a.glb.previewFile.png": "archived",
        "/parts/b.glb": "active",
        "/parts/b.glb.previewFile.png": "active",
    }
    head = head_of(objects, "/parts/b.glb")
    assert head.content_type == "model/x-mine"
    assert head.metadata["vams-primarytype"] == "primary"
    assert head.metadata["vitrine-sha256"] == "abc"
    assert "vitrine-upload" not in head.metadata
    assert notes(museum, "/parts/b.glb") == {"year": "1889"}
    assert notes(museum, "/parts/b.glb", kind="attribute") == {"vertices": "12"}
    assert notes(museum, "/a.glb") == notes(museum, "/a.glb", kind="attribute") == {}
    assert views(museum) == ["/parts/b.glb/potree/hierarchy.bin", "/parts/b.glb/potree/octree.bin"]
    (entry,) = audit_entries(tables, "move_file")
    assert entry["entity"] == "file:museum:statue:/a.glb"
    assert entry["changes"]["path"] == {"before": "/a.glb", "after": "/parts/b.glb"}


def test_a_moved_file_with_another_extension_gets_its_content_type(
    museum: Gallery, objects: MemoryObjects
) -> None:
    museum.put("/a.glb")
    museum.change("POST", "moveFile", {**MOVE, "destinationPath": "/a.stl"})
    assert head_of(objects, "/a.stl").content_type == "model/stl"
    asset = museum.stored_asset()
    assert asset.asset_type == ".stl"


@pytest.mark.parametrize("there", ["/parts/b.glb", "/parts/b.glb/c.txt"])
def test_a_file_does_not_move_onto_another_one_or_a_folder(
    museum: Gallery, objects: MemoryObjects, there: str
) -> None:
    museum.put("/a.glb", b"a")
    museum.put(there, b"b")
    answer = museum.change("POST", "moveFile", MOVE)
    assert (answer.status, answer.body["code"]) == (409, "FileExists")
    assert state_of(objects) == {"/a.glb": "active", there: "active"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({**MOVE, "sourcePath": "/none.glb"}, 404),
        ({**MOVE, "destinationPath": "/a.glb"}, 400),
        ({**MOVE, "destinationPath": "/b.exe"}, 400),
        ({**MOVE, "destinationPath": "/b.previewFile.png"}, 400),
        ({**MOVE, "destinationPath": "/b/"}, 400),
        ({**MOVE, "destinationPath": "/../b.glb"}, 400),
        ({**MOVE, "destinationPath": "/" + "b" * 250 + "/" + "ä" * 400}, 400),
        ({**MOVE, "destinationPath": "/" + "/".join(["b" * 200] * 4) + "/x.glb"}, 400),
        ({**MOVE, "sourcePath": "/a.glb.previewFile.png"}, 400),
        ({"sourcePath": "/a.glb"}, 400),
        ({**MOVE, "sourcePath": 7}, 400),
        ({}, 400),
    ],
)
def test_a_move_that_cannot_be_changes_nothing(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects, body: Any, status: int
) -> None:
    museum.put("/a.glb")
    museum.put("/a.glb.previewFile.png")
    before = state_of(objects)
    answer = museum.change("POST", "moveFile", body)
    assert answer.status == status, answer.body
    assert state_of(objects) == before
    change(museum, "DELETE", "archiveFile", FILE)
    answer = museum.change("POST", "moveFile", MOVE)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "sourcePath")
    assert audit_entries(tables, "move_file") == []


def test_who_may_not_see_the_asset_finds_nothing_to_change(museum: Gallery) -> None:
    museum.put("/a.glb")
    answer = museum.as_user("stranger").change("POST", "moveFile", MOVE)
    assert answer.status == 403  # the route itself is refused
    elsewhere = museum.send(
        "POST",
        "/database/museum/assets/none/moveFile",
        parameters={"databaseId": "museum", "assetId": "none"},
        body=MOVE,
    )
    assert (elsewhere.status, elsewhere.body["code"]) == (404, "AssetNotFound")


def test_a_copy_has_all_that_belongs_to_the_file_and_leaves_it(
    museum: Gallery, objects: MemoryObjects
) -> None:
    furnished(museum)
    answer = museum.change("POST", "copyFile", MOVE)
    assert (answer.status, answer.body["affectedFiles"]) == (200, ["/parts/b.glb"])
    assert set(state_of(objects).values()) == {"active"}
    assert notes(museum, "/a.glb") == notes(museum, "/parts/b.glb") == {"year": "1889"}
    assert len(views(museum)) == 4
    assert body_of(objects, "/parts/b.glb") == b"marble"


def test_a_file_is_copied_to_an_asset_of_another_database(
    museum: Gallery, tables: MemoryTables, objects: MemoryObjects
) -> None:
    created_database(museum.assets, "archive")
    created_asset(museum.assets, "bust", database_id="archive")
    furnished(museum)
    to = {"destinationAssetId": "bust", "destinationDatabaseId": "archive"}
    answer = museum.change("POST", "copyFile", {**MOVE, **to})
    assert answer.status == 200, answer.body
    assert state_of(objects, "bust/") == {
        "/parts/b.glb": "active",
        "/parts/b.glb.previewFile.png": "active",
    }
    ids = ("archive", "bust")
    assert notes(museum, "/parts/b.glb", ids=ids) == {"year": "1889"}
    assert views(museum, "bust/") == [
        "/parts/b.glb/potree/hierarchy.bin",
        "/parts/b.glb/potree/octree.bin",
    ]
    (entry,) = audit_entries(tables, "copy_file")
    assert entry["entity"] == "file:archive:bust:/parts/b.glb"


def test_only_who_may_change_an_asset_copies_out_of_one_that_is_not_distributable(
    tables: MemoryTables, objects: MemoryObjects
) -> None:
    museum = gallery(tables, objects, clock=TickingClock(), is_distributable=False)
    created_asset(museum.assets, "bust")
    museum.put("/a.glb")
    out = {**MOVE, "destinationAssetId": "bust"}

    def allow_all_but_put(_self: OnlyUser, _caller: object, action: str, _target: object) -> bool:
        return action != "PUT"

    with patch.object(OnlyUser, "may", allow_all_but_put):
        assert museum.change("POST", "copyFile", out).status == 403
        assert state_of(museum.objects, "bust/") == {}
        assert museum.change("POST", "copyFile", MOVE).status == 200
    assert museum.change("POST", "copyFile", out).status == 200


@pytest.mark.parametrize(
    "to", [{"destinationAssetId": "none"}, {"destinationDatabaseId": "elsewhere"}]
)
def test_a_copy_to_an_asset_that_is_not_there_is_not_found(
    museum: Gallery, to: dict[str, str]
) -> None:
    museum.put("/a.glb")
    answer = museum.change("POST", "copyFile", {**MOVE, **to})
    assert (answer.status, answer.body["code"]) == (404, "AssetNotFound")


def test_an_archived_file_comes_back_with_its_preview(
    museum: Gallery, objects: MemoryObjects
) -> None:
    version = museum.put("/a.glb", b"marble")
    museum.put("/a.glb.previewFile.png", b"png")
    answer = museum.change("DELETE", "archiveFile", FILE)
    assert (answer.status, answer.body["affectedFiles"]) == (200, ["/a.glb"])
    assert set(state_of(objects).values()) == {"archived"}
    back = museum.change("POST", "unarchiveFile", FILE)
    assert (back.status, back.body["affectedFiles"]) == (200, ["/a.glb"])
    assert set(state_of(objects).values()) == {"active"}
    assert body_of(objects, "/a.glb") == b"marble"
    assert head_of(objects, "/a.glb").version.version_id != version


def test_only_the_newest_of_replaced_previews_comes_back(
    museum: Gallery, objects: MemoryObjects
) -> None:
    museum.put("/a.glb")
    museum.put("/a.glb.previewFile.png")
    objects.delete(BUCKET, "statue/a.glb.previewFile.png")
    museum.put("/a.glb.previewFile.jpg")
    museum.change("DELETE", "archiveFile", FILE)
    museum.change("POST", "unarchiveFile", FILE)
    assert state_of(objects) == {
        "/a.glb": "active",
        "/a.glb.previewFile.png": "archived",
        "/a.glb.previewFile.jpg": "active",
    }


def test_archiving_twice_and_bringing_back_what_is_there_are_conflicts(
    museum: Gallery, tables: MemoryTables
) -> None:
    museum.put("/a.glb")
    assert museum.change("POST", "unarchiveFile", FILE).status == 409
    assert museum.change("DELETE", "archiveFile", FILE).status == 200
    reservation = tables.get(RESERVATIONS, {"reservationKey": "Files#statue"})
    assert reservation == {"reservationKey": "Files#statue", "changes": 1}  # it is free again
    assert museum.change("DELETE", "archiveFile", FILE).status == 409
    none = {"filePath": "/none.glb"}
    assert museum.change("DELETE", "archiveFile", none).status == 404
    assert museum.change("POST", "unarchiveFile", none).status == 404


@pytest.mark.parametrize("verb", ["archiveFile", "deleteFile"])
def test_a_path_that_makes_too_long_a_key_is_refused(museum: Gallery, verb: str) -> None:
    path = "/" + "/".join(["b" * 200] * 5) + "/" + "b" * 14  # with the asset's id one too many
    body = {"filePath": path, "confirmPermanentDelete": True}
    answer = museum.change("DELETE", verb, body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "filePath")


def test_a_folder_is_archived_without_its_neighbours(
    museum: Gallery, objects: MemoryObjects
) -> None:
    for number in range(5):
        museum.put(f"/parts/{number}.glb")
    museum.put("/parts-2/x.glb")
    body = {"filePath": "/parts", "isPrefix": True}
    answer = museum.change("DELETE", "archiveFile", body)
    assert (answer.status, len(answer.body["affectedFiles"])) == (200, 5)
    assert "truncated" not in answer.body
    assert [p for p, item in state_of(objects).items() if item == "active"] == ["/parts-2/x.glb"]
    assert museum.change("DELETE", "archiveFile", body).status == 404


@pytest.mark.parametrize("verb", ["archiveFile", "deleteFile"])
def test_a_reply_that_omits_files_of_a_folder_states_it(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    for number in range(5):
        museum.put(f"/parts/{number}.glb")
    monkeypatch.setattr("backend.domains.files.service.lookup._LISTED", 3)
    body = {"filePath": "/parts", "isPrefix": True, "confirmPermanentDelete": True}
    answer = museum.change("DELETE", verb, body)
    assert answer.status == 200
    assert answer.body["affectedFiles"] == ["/parts/0.glb", "/parts/1.glb", "/parts/2.glb"]
    assert (answer.body["truncated"], "3 files and more" in answer.body["message"]) == (True, True)
    whole = museum.list_files(prefix="/parts/").body["items"]
    assert [item for item in whole if not item["isFolder"]] == []


@pytest.mark.parametrize(("key", "status"), [("year", 200), ("maker", 409)])
def test_metadata_goes_into_another_database_only_as_its_schemas_allow(
    museum: Gallery, objects: MemoryObjects, key: str, status: int
) -> None:
    to = create_strict_asset(museum, "fileMetadata")
    museum.put("/a.glb")
    note(museum, "/a.glb", key, "1889")
    answer = museum.change("POST", "copyFile", MOVE | to)
    assert answer.status == status, answer.body
    assert state_of(objects, "bust/") == ({"/parts/b.glb": "active"} if status == 200 else {})
    assert status == 200 or (answer.body["code"] == "FileChangeFailed" and key in str(answer.body))
