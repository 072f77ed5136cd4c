"""Searches over HTTP: after the client's own writes, by typed metadata, page after page."""

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.journeys.runtime import PATIENCE_SECONDS, Api, Runtime, wait_until

Body = dict[str, Any]


class Writer:
    """A client that searches for its last write."""

    def __init__(self, api: Api, database: str) -> None:
        self.api, self.database = api, database
        self.tokens: list[str] = []
        hooks = api.http.event_hooks["response"]
        api.http.event_hooks = {"response": [*hooks, self._note]}

    def _note(self, response: httpx.Response) -> None:
        token = response.headers.get("X-Sync-Token")
        if token is not None:
            self.tokens.append(token)

    def path(self, asset: str, rest: str = "") -> str:
        return f"/database/{self.database}/assets/{asset}{rest}"

    def search(self, **body: Any) -> Body:
        """The reply that contains the last write; the request is repeated while it is late."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        term = f'str_databaseid:"{self.database}"'
        query = {"filters": [{"query_string": {"query": term}}], "aggregations": False, **body}
        while True:
            headers = {"X-After": self.tokens[-1]}
            answer = self.api.send("POST", "/search", query, headers=headers)
            assert answer.status_code in {200, 202}, answer.text
            found = answer.json()
            assert ("lag" in found) == (answer.status_code == 202)
            if answer.status_code == 200:
                return found
            assert found["lag"]["pending"] <= found["lag"]["of"]
            assert time.monotonic() < deadline, found["lag"]

    def sources(self, **body: Any) -> list[Body]:
        return [hit["_source"] for hit in self.search(**body)["hits"]["hits"]]

    def ids(self, *filters: Body) -> set[str]:
        found = self.sources(entityTypes=["asset"], metadataFilters=filters)
        return {source["str_assetid"] for source in found}

    def write(self, method: str, path: str, body: Any = None) -> Body:
        """Send a write whose reply has a sync token."""
        known = len(self.tokens)
        found = self.api.ok(method, path, body)
        assert len(self.tokens) == known + 1, f"{method} {path} names nothing"
        return found

    def try_write(self, method: str, path: str, body: Any) -> bool:
        """Send a write; return whether its reply has a sync token."""
        known = len(self.tokens)
        self.api.ok(method, path, body)
        return len(self.tokens) > known


@pytest.fixture
def writer(api: Api, database: str) -> Writer:
    return Writer(api, database)


def records(**values: tuple[str, str]) -> list[Body]:
    return [
        {"metadataKey": key, "metadataValue": value, "metadataValueType": kind}
        for key, (value, kind) in values.items()
    ]


def test_a_search_waits_for_the_previous_write(writer: Writer) -> None:
    asset = writer.api.new_asset(writer.database, "Pump")
    assert [source["str_assetname"] for source in writer.sources()] == ["Pump"]
    for number in range(2):
        writer.write("PUT", writer.path(asset), {"assetName": f"Pump {number}"})
        assert [one["str_assetname"] for one in writer.sources()] == [f"Pump {number}"]
    metadata = writer.path(asset, "/metadata")
    for number in range(2):
        body: Body = {"metadata": records(height=(str(number), "number"))}
        writer.write("PUT", metadata, {**body, "updateType": "update"})
        assert writer.ids({"key": "height", "op": "eq", "value": number}) == {asset}
    writer.write("DELETE", metadata, {"metadataKeys": ["height"]})
    assert writer.ids({"key": "height", "op": "exists"}) == set()
    # A version that takes longer than a request becomes a job, whose reply has no sync token.
    wait_until(lambda: writer.try_write("POST", writer.path(asset, "/createVersion"), _VERSION))
    (source,) = writer.sources()
    assert source["str_asset_version_comment"] == "second"
    other = writer.api.new_asset(writer.database, "Valve")
    ends: Body = {
        f"{end}{field}": value
        for end, each in (("from", asset), ("to", other))
        for field, value in (("AssetId", each), ("AssetDatabaseId", writer.database))
    }
    link = writer.write("POST", "/asset-links", {**ends, "relationshipType": "related"})
    assert {one["bool_has_assets_related"] for one in writer.sources()} == {True}
    writer.write("DELETE", f"/asset-links/{link['assetLinkId']}")
    assert {one["bool_has_assets_related"] for one in writer.sources()} == {False}
    writer.write("DELETE", writer.path(asset, "/archiveAsset"), {"confirmArchive": True})
    assert writer.ids() == {other}
    writer.write("PUT", writer.path(asset, "/unarchiveAsset"), {"confirmUnarchive": True})
    assert writer.ids() == {asset, other}
    confirmed = {"confirmPermanentDelete": True}
    writer.write("DELETE", writer.path(other, "/deleteAsset"), confirmed)
    assert writer.ids() == {asset}


@pytest.mark.parametrize("act", ["archive", "delete"])
def test_no_file_of_an_archived_or_deleted_asset_is_counted(writer: Writer, act: str) -> None:
    asset = writer.api.new_asset(writer.database, "Pump")
    files = {f"/{number}.txt": [b"x"] for number in range(40)}  # rebuilt later than the asset
    writer.api.upload(writer.database, asset, files)
    assert len(writer.sources(entityTypes=["file"], size=50)) == 40
    confirmed = {"confirmArchive": True, "confirmPermanentDelete": True}
    body = {name: yes for name, yes in confirmed.items() if act in name.lower()}
    writer.write("DELETE", writer.path(asset, f"/{act}Asset"), body)
    found = writer.search(foldFiles=True)
    assert (found["assetsFound"], found["hits"]["hits"]) == (0, [])


_VERSION: Body = {"comment": "second", "useLatestFiles": True}


def test_a_search_waits_for_the_previous_change_of_files(writer: Writer) -> None:
    asset = writer.api.new_asset(writer.database, "Pump")

    def files() -> dict[str, Body]:
        return {one["str_key"]: one for one in writer.sources(entityTypes=["file"])}

    writer.api.upload(writer.database, asset, {"/a.glb": [b"one"], "/b/c.txt": [b"three"]})
    keys = {f"{asset}/a.glb": 3, f"{asset}/b/c.txt": 5}
    assert {key: one["num_filesize"] for key, one in files().items()} == keys
    attribute: Body = {"filePath": "/a.glb", "type": "attribute"}
    attribute["metadata"] = records(triangles=("900", "string"))
    writer.write("POST", writer.path(asset, "/metadata/file"), attribute)
    assert files()[f"{asset}/a.glb"]["AB_"] == {"triangles": "900"}
    moved = {"sourcePath": "/a.glb", "destinationPath": "/d.glb"}
    writer.write("POST", writer.path(asset, "/moveFile"), moved)
    found = files()
    assert set(found) == {f"{asset}/d.glb", f"{asset}/b/c.txt"}
    assert found[f"{asset}/d.glb"]["AB_"] == {"triangles": "900"}
    writer.write("DELETE", writer.path(asset, "/archiveFile"), {"filePath": "/d.glb"})
    assert set(files()) == {f"{asset}/b/c.txt"}
    writer.write("POST", writer.path(asset, "/unarchiveFile"), {"filePath": "/d.glb"})
    assert set(files()) == {f"{asset}/d.glb", f"{asset}/b/c.txt"}
    gone = {"filePath": "/d.glb", "confirmPermanentDelete": True}
    writer.write("DELETE", writer.path(asset, "/deleteFile"), gone)
    assert set(files()) == {f"{asset}/b/c.txt"}


def test_metadata_is_filtered_counted_and_sorted_by_its_type(writer: Writer) -> None:
    made: dict[str, str] = {}
    for name, height, place in (("a", "9", "[13.4, 52.5]"), ("b", "10", "[2.3, 48.9]")):
        made[name] = writer.api.new_asset(writer.database, name)
        point = f'{{"type": "Point", "coordinates": {place}}}'
        body = records(height=(height, "number"), place=(point, "geopoint"))
        writer.write("POST", writer.path(made[name], "/metadata"), {"metadata": body})
    a, b = made.values()
    writer.search()
    writer.tokens = writer.tokens[-1:]
    expected: list[tuple[Body, set[str]]] = [
        ({"key": "height", "op": "gt", "value": 9}, {b}),
        ({"key": "height", "op": "between", "value": [9, 10]}, {a, b}),
        ({"key": "height", "op": "in", "value": [9, 11]}, {a}),
        ({"key": "weight", "op": "exists", "value": False}, {a, b}),
        (
            {"key": "place", "op": "geoDistance", "value": {"lat": 52, "lon": 13, "meters": 1e5}},
            {a},
        ),
        (
            {
                "key": "place",
                "op": "geoBox",
                "value": {"top": 50, "left": 0, "bottom": 40, "right": 5},
            },
            {b},
        ),
    ]
    for request, found in expected:
        assert _eventually(lambda one=request: writer.ids(one), found), request
    sort = [{"field": "metadata.height", "type": "number", "order": "desc"}]
    reply = writer.search(sort=sort, metadataFacets=[{"key": "height"}])
    assert [hit["_source"]["str_assetid"] for hit in reply["hits"]["hits"]] == [b, a]
    (facet,) = reply["metadataFacets"]
    assert (facet["documents"], facet["number"]["max"]) == (2, 10)
    status, error = writer.api.refused(
        "POST", "/search", {"metadataFilters": [{"key": "height", "op": "gt", "value": "soon"}]}
    )
    assert (status, error["errors"][0]["field"]) == (400, "metadataFilters.0.value")


def _eventually(read: Callable[[], set[str]], expected: set[str]) -> bool:
    """The first of the two assets was written before the last write, which alone is waited for."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while read() != expected:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def test_pages_by_cursor_continue_where_the_last_one_ended(
    writer: Writer, runtime: Runtime
) -> None:
    made = {writer.api.new_asset(writer.database, f"Pump {number}") for number in range(5)}
    tokens = writer.tokens
    writer.tokens = [",".join(tokens)]
    page = writer.search(size=2, after="")
    term = {"query_string": {"query": f'str_databaseid:"{writer.database}"'}}
    query: Body = {"filters": [term], "aggregations": False, "size": 2}
    seen = [hit["_source"]["str_assetid"] for hit in page["hits"]["hits"]]
    first = page["after"]
    while "after" in page:
        writer.api.new_asset(writer.database, "Later")
        page = writer.api.ok("POST", "/search", {**query, "after": page["after"]})
        seen += [hit["_source"]["str_assetid"] for hit in page["hits"]["hits"]]
    assert len(seen) == 5
    assert set(seen) == made
    status, error = writer.api.refused("POST", "/search", {**query, "after": first})
    assert (status, error["code"], error["errors"][0]["field"]) == (410, "CursorExpired", "after")
    page = writer.api.ok("POST", "/search", {**query, "after": ""})
    for wrong in ({**query, "after": "made up"}, {**query, "after": page["after"], "query": "x"}):
        status, error = writer.api.refused("POST", "/search", wrong)
        assert (status, error["errors"][0]["field"]) == (400, "after")
    headers = {"X-After": tokens[0][:-2] + "xx"}
    status, error = writer.api.refused("POST", "/search", {}, headers=headers)
    assert (status, error["errors"][0]["field"]) == (400, "X-After")
    rest = {**query, "after": page["after"]}
    status, error = writer.api.refused("POST", "/search", rest, headers={"X-After": tokens[0]})
    assert (status, error["errors"][0]["field"]) == (400, "X-After")
