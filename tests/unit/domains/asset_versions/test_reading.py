"""Versions listed and compared, and the pages of large ones."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from backend.core.tables import Tables
from backend.domains.metadata.models import Entity, Record
from backend.spec.routes import ROUTES
from tests.factories.files import PARAMETERS
from tests.factories.metadata import record_service
from tests.factories.versions import Versions
from tests.unit.domains.asset_versions.test_making import put, put_records


def pages(museum: Versions, below: str, **query: str) -> list[Any]:
    """All pages of a reply."""
    found: list[Any] = []
    while True:
        answer = museum.send("GET", below, **query)
        assert answer.status == 200, answer.body
        found.append(answer.body)
        if "NextToken" not in answer.body:
            return found
        query = {**query, "startingToken": answer.body["NextToken"]}


def test_versions_are_listed_newest_first_in_numeric_order(museum: Versions) -> None:
    for number in range(1, 12):
        assert museum.made(f"version {number}") == str(number)
    expected = [str(number) for number in range(11, -1, -1)]
    listed = museum.listed()
    assert [one["Version"] for one in listed] == expected
    assert [one["isCurrent"] for one in listed] == [True, *([False] * 11)]
    assert set(listed[0]) == {
        *("Version", "DateModified", "Comment", "description", "createdBy", "isCurrent"),
        *("fileCount", "versionAlias", "isArchived", "assetId", "databaseId"),
    }
    for size in ("1", "5", "12"):
        parts = pages(museum, "getVersions", pageSize=size)
        assert [one["Version"] for part in parts for one in part["versions"]] == expected


def test_pages_of_versions_leave_out_archived_ones(museum: Versions) -> None:
    for _ in range(4):
        museum.made(versionAlias="")
    for number in ("1", "3"):
        museum.send("POST", f"assetversions/{number}/archive")
    parts = pages(museum, "getVersions", pageSize="2")
    assert [[one["Version"] for one in part["versions"]] for part in parts] == [["4", "2"], ["0"]]
    assert len(museum.listed(showArchived="true")) == 5


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


def test_a_reply_ends_before_it_is_too_large(
    museum: Versions, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.domains.asset_versions.service.queries.MAX_BYTES_PER_PAGE", 300)
    monkeypatch.setattr("backend.domains.asset_versions.service.queries._FILES", 2)
    put(museum, "/a.glb", "/b.glb", "/c.glb")
    museum.made()
    parts = pages(museum, "getVersion/1")
    assert [len(part["files"]) for part in parts] == [2, 1]


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


def compared(museum: Versions, **query: str) -> dict[str, Any]:
    """Return the differences of all pages together: the names by part and kind."""
    found: dict[str, Any] = {}
    for part in pages(museum, "compareVersions", **{"from": "1", "to": "2"}, **query):
        for what in ("files", "metadata", "attributes"):
            for kind, differences in part[what].items():
                names = [
                    (
                        difference.get("relativeKey")
                        or (difference["filePath"], difference["metadataKey"])
                    )
                    for difference in differences
                ]
                found.setdefault(what, {}).setdefault(kind, []).extend(names)
    return found


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


def test_a_difference_shows_both_sides(museum: Versions) -> None:
    first = put(museum, "/a.glb")["/a.glb"]
    museum.made()
    second = museum.lifecycle.gallery.put("/a.glb", b"longer than before")
    museum.made()
    (page,) = pages(museum, "compareVersions", **{"from": "1", "to": "2"})
    (changed,) = page["files"]["changed"]
    assert changed["from"]["versionId"] == first
    assert (changed["to"]["versionId"], changed["to"]["size"]) == (second, 18)
    assert (page["from"], page["to"]) == ("1", "2")


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
    wanted = [
        route
        for route in ROUTES
        if route.domain == "asset_versions" or "/assetversions/" in route.path
    ]
    assert len(wanted) == 8
    for route in wanted:
        below = route.path.rpartition("{assetId}/")[2].replace("{assetVersionId}", "0")
        body = None if route.method == "GET" else {"comment": "x", "useLatestFiles": True}
        assert stranger.send(route.method, below, body=body).status == 403
    assert len(museum.listed()) == 1
    assert PARAMETERS["assetId"] == "statue"


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
    found = {one["fact"]: (one.get("from"), one.get("to")) for one in page["geometry"]}
    assert found == {
        "points": (3, None),
        "triangles": (12, 20),
        "volume": (None, 2),
        "watertight": (True, False),
    }
    assert {one["filePath"] for one in page["geometry"]} == {"/a.glb"}
    changed = {one["metadataKey"] for one in page["attributes"]["changed"]}
    assert changed == {"fact_format", "fact_triangles", "fact_watertight"}
