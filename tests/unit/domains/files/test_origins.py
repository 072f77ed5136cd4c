"""The origin of each version and delete marker, in lists and descriptions of files."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from backend.core.authorization import Action, Secured
from backend.core.identity import Identity
from backend.core.objects import VersionRef
from backend.core.tables import Tables
from backend.domains.files.models import VersionOrigin
from backend.domains.files.routes import build_router
from backend.spec.tables.assets import FILE_VERSION_HISTORY
from tests.factories.access import OnlyUser
from tests.factories.assets import created_asset
from tests.factories.files import BUCKET, PARAMETERS, PATH, Gallery
from tests.factories.http import Client
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import change

BY = {"changeUserId": "admin"}


@dataclass(frozen=True)
class Hides(OnlyUser):
    """The caller may not see the assets of this name, nor workflows."""

    name: str = "The source"

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.fields.get("assetName") != self.name and target.object_type != "workflow"


def copied(path: str, version_id: str, asset_id: str = "statue") -> dict[str, str]:
    return {
        "changeDatabaseIdFrom": "museum",
        "changeAssetIdFrom": asset_id,
        "changeAssetFilePathFrom": path,
        "changeAssetFileVersionFrom": version_id,
    }


def origin_of(described: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name.startswith("change")}


def versions_of(museum: Gallery, path: str) -> list[dict[str, Any]]:
    answer = museum.file_info(path, includeVersions="true")
    assert answer.status == 200, answer.body
    described = answer.body["versions"]
    newest = {k: v for k, v in origin_of(described[0]).items() if not k.endswith("From")}
    assert origin_of(answer.body) == newest
    listed = museum.list_files(includeArchived="true").body["items"]
    assert [origin_of(row) for row in listed if row["relativePath"] == path] == [newest]
    return described


def test_each_change_of_a_file_is_named_in_its_versions(museum: Gallery) -> None:
    started = museum.initialise({"relativeKey": "/a.glb", "file_size": 0}).body
    file: dict[str, Any] = {
        "relativeKey": "/a.glb",
        "uploadIdS3": "zero-byte",
        "parts": [],
    }
    assert museum.complete(started["uploadId"], file).status == 200
    named, of_file = {"filePath": "/a.glb"}, "/a.glb"
    change(museum, "DELETE", "archiveFile", named)
    change(museum, "POST", "unarchiveFile", named)
    first = versions_of(museum, of_file)[-1]["versionId"]
    change(museum, "POST", "revertFileVersion", named, versionId=first)
    change(museum, "PUT", "setPrimaryFile", {**named, "primaryType": "primary"})
    third = versions_of(museum, of_file)[0]["versionId"]
    change(museum, "DELETE", "archiveFile", named)
    described = versions_of(museum, of_file)
    second = described[2]["versionId"]
    assert [origin_of(version) for version in described] == [
        {"changeSource": "fileArchive", **BY},
        {"changeSource": "fileMetadataUpdate", **BY, **copied(of_file, second)},
        {"changeSource": "fileRevert", **BY, **copied(of_file, first)},
        {"changeSource": "fileUnarchive", **BY, **copied(of_file, first)},
        {"changeSource": "fileArchive", **BY},
        {"changeSource": "upload", **BY},
    ]
    assert third == described[1]["versionId"]


@pytest.mark.parametrize(
    ("target", "source"), [("/b.glb", "fileRename"), ("/parts/a.glb", "fileMove")]
)
def test_a_move_names_the_file_that_it_copied_and_its_end(
    museum: Gallery, target: str, source: str
) -> None:
    version_id = museum.put("/a.glb")
    change(museum, "POST", "moveFile", {"sourcePath": "/a.glb", "destinationPath": target})
    (moved,) = versions_of(museum, target)
    assert origin_of(moved) == {"changeSource": source, **BY, **copied("/a.glb", version_id)}
    marker, outside = versions_of(museum, "/a.glb")
    assert origin_of(marker) == {"changeSource": source, **BY}
    assert origin_of(outside) == {}


def test_markers_that_a_folder_loses_leave_no_origin_to_later_ones(museum: Gallery) -> None:
    museum.put("/parts/a.glb")
    change(museum, "DELETE", "archiveFile", {"filePath": "/parts/", "isPrefix": True})
    assert versions_of(museum, "/parts/a.glb")[0]["changeSource"] == "fileArchive"
    change(museum, "POST", "unarchiveFolder", {"folderPath": "/parts/"})
    bucket, prefix = museum.assets.location(museum.asset)
    museum.objects.delete(bucket, f"{prefix}parts/a.glb")  # by another program
    marker, _ = versions_of(museum, "/parts/a.glb")
    assert origin_of(marker) == {}


@pytest.mark.parametrize(
    "named", [{"filePath": "/parts/a.glb"}, {"filePath": "/parts/", "isPrefix": True}]
)
def test_a_permanent_deletion_deletes_origins_while_the_versions_name_them(
    museum: Gallery,
    tables: MemoryTables,
    objects: MemoryObjects,
    monkeypatch: pytest.MonkeyPatch,
    named: dict[str, Any],
) -> None:
    museum.put("/parts/a.glb")
    museum.put("/b.glb")
    for path in ("/parts/a.glb", "/b.glb"):
        change(museum, "PUT", "setPrimaryFile", {"filePath": path, "primaryType": "primary"})
        change(museum, "DELETE", "archiveFile", {"filePath": path})
    assert len(tables.rows(FILE_VERSION_HISTORY)) == 4
    left: list[set[str]] = []
    delete_many = objects.delete_many

    def noting(bucket: str, versions: Any) -> None:
        if bucket == BUCKET:
            left.append({row["versionId:filePath"] for row in tables.rows(FILE_VERSION_HISTORY)})
        delete_many(bucket, versions)

    monkeypatch.setattr(objects, "delete_many", noting)
    change(museum, "DELETE", "deleteFile", {**named, "confirmPermanentDelete": True})
    # A worker that dies between the two leaves versions, by which a repetition finds the rows.
    assert all(row.endswith(":/b.glb") for rows in left for row in rows)
    assert len(tables.rows(FILE_VERSION_HISTORY)) == 2
    assert len(left) > 0


def test_assets_and_workflows_that_the_caller_may_not_see_are_left_out(
    museum: Gallery, tables: Tables
) -> None:
    created_asset(museum.assets, "source", name="The source")
    version_id = museum.put("/a.glb")
    to = {"destinationAssetId": "source", "sourcePath": "/a.glb", "destinationPath": "/a.glb"}
    change(museum, "POST", "copyFile", to)
    back = VersionOrigin(
        change_source="fileCopy",
        change_user_id="admin",
        change_database_id_from="museum",
        change_asset_id_from="source",
        change_asset_file_path_from="/a.glb",
        change_asset_file_version_from="1",
    )
    ran = VersionOrigin(
        change_source="workflowExecution",
        change_user_id="admin",
        change_workflow_database_id="museum",
        change_workflow_id="scale",
        change_workflow_execution_id="e1",
    )
    other = museum.put("/b.glb")
    record = museum.files.files.put_origins
    record(museum.asset.ref, {VersionRef("/a.glb", version_id): back})
    record(museum.asset.ref, {VersionRef("/b.glb", other): ran})
    assert origin_of(versions_of(museum, "/a.glb")[0]) == back.model_dump(
        by_alias=True, exclude_none=True
    )
    assert versions_of(museum, "/b.glb")[0]["changeWorkflowExecutionId"] == "e1"
    assets = replace(museum.assets, authorization=Hides())
    unused: Any = None
    files = replace(museum.files, assets=assets)
    client = Client(build_router(files, unused, unused, unused))
    listed = client.send("GET", f"{PATH}/listFiles", parameters=PARAMETERS).body["items"]
    assert [origin_of(row) for row in listed] == [
        {"changeSource": "fileCopy", **BY},
        {"changeSource": "workflowExecution", **BY},
    ]
    query = {"filePath": "/a.glb", "includeVersions": "true"}
    described = client.send("GET", f"{PATH}/fileInfo", parameters=PARAMETERS, query=query).body
    assert origin_of(described["versions"][0]) == {"changeSource": "fileCopy", **BY}
