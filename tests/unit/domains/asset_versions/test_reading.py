"""Versions listed, compared, changed, archived with or without their asset, and gone back to."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.domains.metadata.models import Entity, Record
from backend.spec.routes import ROUTES
from tests.factories.audit import entries
from tests.factories.files import BUCKET
from tests.factories.http import Client
from tests.factories.metadata import metadata_router, metadata_service, record_service
from tests.factories.versions import Versions, versions
from tests.unit.domains.asset_versions.world import pages, put, put_records
from tests.unit.domains.metadata.calls import FILE, record, send, values


def test_versions_are_listed_newest_first_in_numeric_order(museum: Versions) -> None:
    for number in range(1, 12):
        assert museum.made(f"version {number}") == str(number)
    expected = [str(number) for number in range(11, -1, -1)]
    listed = museum.listed()
    assert [item["Version"] for item in listed] == expected
    assert [item["isCurrent"] for item in listed] == [True, *([False] * 11)]
    assert set(listed[0]) == {
        *("Version", "DateModified", "Comment", "description", "createdBy", "isCurrent"),
        *("fileCount", "versionAlias", "isArchived", "assetId", "databaseId"),
    }
    for size in ("1", "5", "12"):
        parts = pages(museum, "getVersions", pageSize=size)
        assert [version["Version"] for part in parts for version in part["versions"]] == expected
    for number in range(1, 12, 2):
        museum.send("POST", f"assetversions/{number}/archive", body={"confirmArchiveAsset": False})
    parts = pages(museum, "getVersions", pageSize="3")  # archived ones are left out
    numbers = [[version["Version"] for version in part["versions"]] for part in parts]
    assert numbers == [["11", "10", "8"], ["6", "4", "2"], ["0"]]
    assert len(museum.listed(showArchived="true")) == 12


def test_a_large_version_comes_in_pages(museum: Versions, tables: Tables) -> None:
    files = put(museum, *(f"/{number}.glb" for number in range(5)))
    put_records(tables, [("/", "metadata", 3), ("/0.glb", "attribute", 2)])
    museum.made()
    parts = pages(museum, "getVersion/1", pageSize="2")
    sizes = [len(p["files"]) + len(p["versionedMetadata"]) for p in parts]
    # DynamoDB returns a position after a page that is just full, so the last one may be empty.
    assert [size for size in sizes if size] == [2, 2, 2, 2, 2]
    assert {f["relativeKey"] for p in parts for f in p["files"]} == set(files)
    assert sum(len(p["versionedMetadata"]) for p in parts) == 5


@pytest.mark.parametrize(("tick", "sizes"), [(0.0, [4]), (0.7, [3, 1]), (2.0, [1, 1, 1, 1])])
def test_a_page_of_a_version_ends_after_two_seconds_and_continues_there(
    museum: Versions, monkeypatch: pytest.MonkeyPatch, tick: float, sizes: list[int]
) -> None:
    monkeypatch.setattr("backend.domains.asset_versions.service.queries._FILES", 1)
    put(museum, "/a.glb", "/b.glb", "/c.glb", "/d.glb")
    museum.made()
    museum.lifecycle.hands.tick = timedelta(seconds=tick)
    parts = pages(museum, "getVersion/1")
    assert [len(part["files"]) for part in parts if part["files"]] == sizes
    museum.lifecycle.hands.tick = timedelta(0)
    queries = "backend.domains.asset_versions.service.queries"
    monkeypatch.setattr(f"{queries}.MAX_BYTES_PER_PAGE", 300)  # or before it is too large
    monkeypatch.setattr(f"{queries}._FILES", 2)
    assert [len(part["files"]) for part in pages(museum, "getVersion/1")][:2] == [2, 2]


def compared(museum: Versions, **query: str) -> dict[str, Any]:
    """Return the differences of all pages together: the names by part and kind."""
    differences: dict[str, Any] = {}
    for part in pages(museum, "compareVersions", **{"from": "1", "to": "2"}, **query):
        for what in ("files", "metadata", "attributes"):
            for kind, rows in part[what].items():
                names = differences.setdefault(what, {}).setdefault(kind, [])
                for row in rows:
                    names.append(row.get("relativeKey") or (row["filePath"], row["metadataKey"]))
    return differences


@pytest.mark.parametrize("size", ["1", "2", "1000"])
def test_two_versions_are_compared(museum: Versions, tables: Tables, size: str) -> None:
    put(museum, "/changed.glb", "/removed.glb", "/same.glb")
    put_records(tables, [("/", "metadata", 2), ("/same.glb", "attribute", 1)])
    museum.made()
    put(museum, "/changed.glb", "/added.glb")
    museum.lifecycle.hide("/removed.glb")
    put_records(tables, [("/", "metadata", 3), ("/added.glb", "attribute", 1)])
    museum.made()
    assert compared(museum, pageSize=size) == {
        "files": {
            "added": ["/added.glb"],
            "removed": ["/removed.glb"],
            "changed": ["/changed.glb"],
        },
        "metadata": {"added": [("/", "key-2")], "removed": [], "changed": []},
        "attributes": {"added": [("/added.glb", "key-0")], "removed": [], "changed": []},
    }
    page = pages(museum, "compareVersions", **{"from": "1", "to": "2"})[0]
    (changed,) = page["files"]["changed"]  # both sides
    for side, number in (("from", "1"), ("to", "2")):
        assert changed[side]["versionId"] == museum.files(number)["/changed.glb"]
        assert (changed[side]["size"], page[side]) == (len("/changed.glb"), number)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"from": "0"}, 400),
        ({"to": "0"}, 400),
        ({"from": "x", "to": "0"}, 400),
        ({"from": "0", "to": "7"}, 404),
        ({"from": "0", "to": "0", "startingToken": "x"}, 400),
        ({"from": "0", "to": "0"}, 200),
    ],
)
def test_a_comparison_names_two_versions(
    museum: Versions, query: dict[str, str], status: int
) -> None:
    assert museum.send("GET", "compareVersions", **query).status == status


def test_a_stranger_reads_and_writes_nothing(museum: Versions) -> None:
    stranger = replace(museum, user_id="stranger")
    routes = [r for r in ROUTES if r.domain == "asset_versions" or "/assetversions/" in r.path]
    assert len(routes) == 8
    for route in routes:
        below = route.path.rpartition("{assetId}/")[2].replace("{assetVersionId}", "0")
        body = None if route.method == "GET" else {"comment": "x", "useLatestFiles": True}
        assert stranger.send(route.method, below, body=body).status == 403
    assert len(museum.listed()) == 1


def test_two_versions_differ_in_geometry(museum: Versions, tables: Tables) -> None:
    """By the facts of each version, typed; facts that are none of geometry are left out."""
    put(museum, "/a.glb")
    records = record_service(museum.lifecycle.gallery.assets, tables)
    entity = Entity("museum", "statue", "/a.glb", "attribute")
    for facts in (
        {"triangles": "12", "area": "1.5", "watertight": "true", "format": "OBJ", "points": "3"},
        {"triangles": "20", "area": "1.5", "watertight": "false", "format": "STL", "volume": "2.0"},
    ):
        records.put_facts(
            entity,
            [Record(metadata_key=f"fact_{k}", metadata_value=v) for k, v in facts.items()],
        )
        museum.made()
    (page,) = pages(museum, "compareVersions", **{"from": "1", "to": "2"})
    result = {item["fact"]: (item.get("from"), item.get("to")) for item in page["geometry"]}
    assert result == {
        "points": (3, None),
        "triangles": (12, 20),
        "volume": (None, 2),
        "watertight": (True, False),
    }
    assert {item["filePath"] for item in page["geometry"]} == {"/a.glb"}
    changed = {item["metadataKey"] for item in page["attributes"]["changed"]}
    assert changed == {"fact_format", "fact_triangles", "fact_watertight"}


def flags(museum: Versions) -> dict[str, bool]:
    return {item["Version"]: item["isArchived"] for item in museum.listed(showArchived="true")}


def update(museum: Versions, number: str, **body: Any) -> tuple[int, Any]:
    answer = museum.send("PUT", f"assetversions/{number}", body=body)
    return answer.status, answer.body.get("code", answer.body)


def archive(museum: Versions, number: str, body: Any = None) -> tuple[int, Any]:
    answer = museum.send("POST", f"assetversions/{number}/archive", body=body)
    return answer.status, answer.body.get("code", answer.body)


def unarchive(museum: Versions, number: str) -> tuple[int, Any]:
    answer = museum.send("POST", f"assetversions/{number}/unarchive")
    return answer.status, answer.body.get("code", answer.body)


def test_a_comment_and_an_alias_change_on_the_version_and_on_its_asset(museum: Versions) -> None:
    museum.made("one", versionAlias="first")
    status, body = update(museum, "1", comment="x" * 1024, versionAlias="second")
    assert (status, body["operation"], body["assetVersionId"]) == (200, "update", "1")
    listed = museum.listed()[0]
    assert (listed["Comment"], listed["versionAlias"]) == ("x" * 1024, "second")
    assert museum.asset.current_version.version_alias == "second"
    revision = museum.asset.revision
    assert update(museum, "1", versionAlias="second")[0] == 200
    assert museum.asset.revision == revision  # what changes nothing writes nothing
    museum.made("two", versionAlias="first")
    update(museum, "1", comment="older")
    assert museum.asset.current_version.comment == "two"
    assert update(museum, "1", versionAlias="first") == (409, "VersionAliasTaken")
    assert update(museum, "2", versionAlias="")[0] == 200  # taken away, and taken again
    assert update(museum, "1", versionAlias="first")[0] == 200
    assert [version["versionAlias"] for version in museum.listed()] == ["", "first", ""]


@pytest.mark.parametrize(
    "body", [{}, {"comment": ""}, {"comment": "x" * 1025}, {"versionAlias": "7"}, {"comment": 1}]
)
def test_a_wrong_change_is_refused(museum: Versions, body: dict[str, Any]) -> None:
    museum.made()
    assert update(museum, "1", **body)[0] == 400


def test_absent_versions_are_not_found(museum: Versions) -> None:
    absent = (404, "AssetVersionNotFound")
    assert update(museum, "1", comment="x") == absent
    assert archive(museum, "1") == absent
    assert unarchive(museum, "1") == absent
    assert museum.revert("1").body["code"] == "AssetVersionNotFound"


def test_an_older_version_is_archived_alone(museum: Versions) -> None:
    museum.made(versionAlias="first")
    museum.made()
    status, body = archive(museum, "1", {"reason": "old"})
    assert (status, body["operation"]) == (200, "archive")
    assert "jobId" not in body
    assert archive(museum, "1") == (409, "AssetVersionIsArchived")
    assert [item["Version"] for item in museum.listed()] == ["2", "0"]
    assert flags(museum) == {"2": False, "1": True, "0": False}
    assert not museum.asset.is_archived
    audited = entries(museum.lifecycle.tables)
    (entry,) = [item for item in audited if item["operation"] == "archive_asset_version"]
    assert entry["changes"]["archivedReason"] == {"after": "old"}
    assert unarchive(museum, "1")[0] == 200
    assert unarchive(museum, "1") == (409, "AssetVersionIsActive")


def test_the_current_version_archives_and_restores_its_asset(museum: Versions) -> None:
    put(museum, "/a.glb")
    museum.made()
    assert archive(museum, "1") == (409, "ConfirmArchiveAssetMissing")
    assert archive(museum, "1", {"confirmArchiveAsset": False})[0] == 409
    assert archive(museum, "1", {"confirmArchiveAsset": "yes"})[0] == 400
    status, body = archive(museum, "1", {"confirmArchiveAsset": True, "reason": "old"})
    assert (status, body["jobState"]) == (200, "done")
    archived = museum.lifecycle.gallery.assets.find_asset("museum", "statue")
    assert archived is not None
    assert (archived.is_archived, archived.archived_reason) == (True, "old")
    assert museum.lifecycle.files() == {"/a.glb": True}
    assert museum.send("GET", "getVersions").status == 404
    assert flags(museum) == {"1": True, "0": False}
    assert museum.whole("1")["files"][0]["isLatestVersionArchived"] is True
    assert archive(museum, "0") == (409, "AssetArchived")
    assert unarchive(museum, "0") == (409, "AssetVersionIsActive")
    assert unarchive(museum, "1")[0] == 200
    assert not museum.asset.is_archived
    assert flags(museum) == {"1": False, "0": False}
    assert museum.lifecycle.files() == {"/a.glb": False}


def test_an_asset_that_its_current_version_took_along_comes_back_with_it(museum: Versions) -> None:
    put(museum, "/a.glb")
    museum.made()
    archive(museum, "0")
    archive(museum, "1", {"confirmArchiveAsset": True})
    museum.lifecycle.unarchive()
    assert flags(museum) == {"1": False, "0": True}
    assert museum.lifecycle.files() == {"/a.glb": False}
    (entry,) = [e for e in entries(museum.lifecycle.tables) if e["operation"] == "unarchive_asset"]
    assert entry["changes"]["version.1.isArchived"] == {"before": True, "after": False}
    assert archive(museum, "1", {"confirmArchiveAsset": True})[0] == 200


def test_an_asset_that_was_archived_itself_comes_back_with_its_versions_as_they_were(
    museum: Versions,
) -> None:
    museum.made()
    archive(museum, "0")
    museum.lifecycle.archive()
    assert unarchive(museum, "0") == (409, "AssetArchived")
    museum.lifecycle.unarchive()
    assert flags(museum) == {"1": False, "0": True}
    (entry,) = [e for e in entries(museum.lifecycle.tables) if e["operation"] == "unarchive_asset"]
    assert not [name for name in entry["changes"] if name.startswith("version.")]


def test_reverting_restores_files_as_a_new_version(museum: Versions) -> None:
    first = put(museum, "/a.glb", "/b.glb", "/c.glb", "/d.glb")
    museum.made("one")
    newer = museum.lifecycle.gallery.put("/a.glb", b"newer")
    museum.lifecycle.hide("/b.glb")
    prefix = "statue/"
    museum.lifecycle.objects.delete_version(BUCKET, f"{prefix}c.glb", version_id=first["/c.glb"])
    put(museum, "/new.glb")
    museum.made("two")
    answer = museum.revert("1")
    assert answer.status == 200, answer.body
    assert (answer.body["assetVersionId"], answer.body["operation"]) == ("3", "revert")
    assert answer.body["skippedFiles"] == ["/c.glb"]
    held = museum.files("3")
    assert held.keys() == {"/a.glb", "/b.glb", "/d.glb"}
    assert held["/d.glb"] == first["/d.glb"]
    assert held["/a.glb"] not in {first["/a.glb"], newer}
    described = museum.lifecycle.gallery.file_info("/a.glb", includeVersions="true").body[
        "versions"
    ]
    origin = described[0]["changeSource"], described[0]["changeAssetFileVersionFrom"]
    assert origin == ("fileRevert", first["/a.glb"])
    assert museum.lifecycle.objects.read_start(BUCKET, "statue/a.glb", length=9) == b"/a.glb"
    assert museum.lifecycle.files() == dict.fromkeys(
        ("/a.glb", "/b.glb", "/d.glb", "/new.glb"), False
    )
    assert ("museum", "statue", "/a.glb") in museum.lifecycle.reindexing.built
    assert museum.listed()[0]["Comment"] == "back again"
    states = {file["relativeKey"]: file for file in museum.whole("1")["files"]}
    assert states["/c.glb"]["isPermanentlyDeleted"] is True


def test_reverting_keeps_metadata_or_restores_it(tables: Tables, objects: S3Objects) -> None:
    museum = versions(tables, objects)
    put(museum, "/a/b.glb", "/other.glb")
    client = Client(
        metadata_router(metadata_service(museum.lifecycle.gallery.assets, tables, objects))
    )
    on_file = {"filePath": "/a/b.glb", "type": "metadata"}

    def add(key: str, **more: Any) -> None:
        answer = send(client, "POST", body={"metadata": [record(key)], **more}, **route(more))
        assert answer.status == 200, answer.body

    def route(more: dict[str, Any]) -> dict[str, Any]:
        return {"route": FILE} if more else {}

    add("year")
    add("part", **on_file)
    museum.made("one")
    send(client, "PUT", body={"metadata": [record("year", "1900")]})
    send(client, "DELETE", FILE, body={"metadataKeys": ["part"], **on_file})
    add("later", **{**on_file, "type": "attribute"})
    add("stays", filePath="/other.glb", type="metadata")
    museum.lifecycle.objects.delete(BUCKET, "statue/other.glb")
    museum.made("two")
    museum.revert("1")
    assert values(client) == {"year": "1900"}
    answer = museum.revert("1", revertMetadata=True)
    assert answer.status == 200, answer.body
    assert values(client) == {"year": "v"}
    assert values(client, FILE, **on_file) == {"part": "v"}
    assert values(client, FILE, **{**on_file, "type": "attribute"}) == {}
    held = {(r["filePath"], r["metadataKey"]) for r in museum.whole("4")["versionedMetadata"]}
    assert held == {("/", "year"), ("/a/b.glb", "part")}


@pytest.mark.parametrize("body", [{"comment": ""}, {"comment": None}, {"revertMetadata": "yes"}])
def test_a_wrong_revert_is_refused(museum: Versions, body: dict[str, Any]) -> None:
    assert museum.revert("0", **body).status == 400
    assert len(museum.listed()) == 1
