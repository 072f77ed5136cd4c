"""Searches, checks and rebuilds of the indexes, and bytes of files as viewers request them."""

import time
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

import httpx
import pytest

from tests.journeys.runtime import PATIENCE_SECONDS, Api, Runtime, noise, wait_until
from tests.journeys.test_bucket_sync import s3

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
            result = answer.json()
            assert ("lag" in result) == (answer.status_code == 202)
            if answer.status_code == 200:
                return result
            assert result["lag"]["pending"] <= result["lag"]["of"]
            assert time.monotonic() < deadline, result["lag"]

    def sources(self, **body: Any) -> list[Body]:
        return [hit["_source"] for hit in self.search(**body)["hits"]["hits"]]

    def ids(self, *filters: Body) -> set[str]:
        result = self.sources(entityTypes=["asset"], metadataFilters=filters)
        return {source["str_assetid"] for source in result}

    def write(self, method: str, path: str, body: Any = None) -> Body:
        """Send a write whose reply has a sync token."""
        known = len(self.tokens)
        reply = self.api.ok(method, path, body)
        assert len(self.tokens) == known + 1, f"{method} {path} names nothing"
        return reply

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
        assert [item["str_assetname"] for item in writer.sources()] == [f"Pump {number}"]
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
        for end, item in (("from", asset), ("to", other))
        for field, value in (("AssetId", item), ("AssetDatabaseId", writer.database))
    }
    link = writer.write("POST", "/asset-links", {**ends, "relationshipType": "related"})
    assert {item["bool_has_assets_related"] for item in writer.sources()} == {True}
    writer.write("DELETE", f"/asset-links/{link['assetLinkId']}")
    assert {item["bool_has_assets_related"] for item in writer.sources()} == {False}
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
    hits = writer.search(foldFiles=True)
    assert (hits["assetsFound"], hits["hits"]["hits"]) == (0, [])


_VERSION: Body = {"comment": "second", "useLatestFiles": True}


def test_a_search_waits_for_the_previous_change_of_files(writer: Writer) -> None:
    asset = writer.api.new_asset(writer.database, "Pump")

    def files() -> dict[str, Body]:
        return {source["str_key"]: source for source in writer.sources(entityTypes=["file"])}

    writer.api.upload(writer.database, asset, {"/a.glb": [b"one"], "/b/c.txt": [b"three"]})
    keys = {f"{asset}/a.glb": 3, f"{asset}/b/c.txt": 5}
    assert {key: file["num_filesize"] for key, file in files().items()} == keys
    attribute: Body = {"filePath": "/a.glb", "type": "attribute"}
    attribute["metadata"] = records(triangles=("900", "string"))
    writer.write("POST", writer.path(asset, "/metadata/file"), attribute)
    assert files()[f"{asset}/a.glb"]["AB_"] == {"triangles": "900"}
    moved = {"sourcePath": "/a.glb", "destinationPath": "/d.glb"}
    writer.write("POST", writer.path(asset, "/moveFile"), moved)
    result = files()
    assert set(result) == {f"{asset}/d.glb", f"{asset}/b/c.txt"}
    assert result[f"{asset}/d.glb"]["AB_"] == {"triangles": "900"}
    writer.write("DELETE", writer.path(asset, "/archiveFile"), {"filePath": "/d.glb"})
    assert set(files()) == {f"{asset}/b/c.txt"}
    writer.write("POST", writer.path(asset, "/unarchiveFile"), {"filePath": "/d.glb"})
    assert set(files()) == {f"{asset}/d.glb", f"{asset}/b/c.txt"}
    gone = {"filePath": "/d.glb", "confirmPermanentDelete": True}
    writer.write("DELETE", writer.path(asset, "/deleteFile"), gone)
    assert set(files()) == {f"{asset}/b/c.txt"}


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


CONSISTENCY, REPAIR, REINDEX = (
    f"/admin/search/{name}" for name in ("consistency", "repair", "reindex")
)
SECONDS = 600


def ended(api: Api, job_id: str) -> dict[str, Any]:
    """A job when it has ended, in any state."""
    result: list[dict[str, Any]] = [{}]

    def has_ended() -> bool:
        result[0] = api.ok("GET", f"/jobs/{job_id}")
        return result[0]["state"] in {"done", "failed", "cancelled"}

    wait_until(has_ended, seconds=SECONDS)
    return result[0]


def checked(api: Api) -> dict[str, Any]:
    """The report of a check that begins now."""
    while not (begun := api.ok("POST", CONSISTENCY))["started"]:
        ended(api, begun["jobId"])
    assert ended(api, begun["jobId"])["state"] == "done"
    return api.ok("GET", CONSISTENCY)["report"]


def drift(api: Api, database: str) -> set[tuple[str, str]]:
    """The differences in a database, by class; this test ignores those of other databases."""
    examples = checked(api)["examples"]
    return {
        (example["drift"], example["documentId"])
        for example in examples
        if example["databaseId"] == database
    }


def spoil(runtime: Runtime, method: str, index: str, document_id: str, body: Any = None) -> None:
    """Change an index without the product."""
    url = f"{runtime.endpoint['opensearch']}/{index}/_doc/{document_id}"
    answer = httpx.request(method, url, params={"refresh": "true"}, json=body, timeout=30)
    answer.raise_for_status()


@pytest.fixture
def pump(runtime: Runtime, api: Api, database: str) -> str:
    """An asset with two files, which is indexed."""
    asset = api.new_asset(database, "Pump", assetId=f"pump-{uuid4().hex[:8]}")
    api.upload(database, asset, {f"/{n}.stl": [noise(20, f"{n}")] for n in range(2)})
    runtime.drain()
    return asset


def reads(api: Api) -> dict[str, str]:
    return {index["alias"]: index["reads"] for index in api.ok("GET", CONSISTENCY)["indexes"]}


def test_missing_stale_and_extra_documents_are_reported_and_repaired(
    runtime: Runtime, api: Api, database: str, pump: str
) -> None:
    index = reads(api)
    ids = {"str_databaseid": database, "str_assetid": "nobody"}
    spoil(runtime, "DELETE", index["assets"], f"{database}:{pump}")
    extra = {**ids, "_rectype": "asset", "hash": "x", "rev": 1}
    spoil(runtime, "PUT", index["assets"], f"{database}:nobody", extra)
    assert drift(api, database) == {
        ("missing", f"{database}:{pump}"),
        ("extra", f"{database}:nobody"),
    }
    assert api.ok("GET", CONSISTENCY)["corrections"]
    job = ended(api, api.ok("POST", REPAIR, {"databaseId": database})["jobId"])
    assert (job["state"], job["result"]["repaired"]) == ("done", 2)
    runtime.drain()
    assert drift(api, database) == set()


def test_a_reindex_runs_during_writes_and_searches_and_can_be_undone(
    runtime: Runtime, api: Api, database: str, pump: str
) -> None:
    before = reads(api)
    taken_back = api.ok("POST", REINDEX)["jobId"]
    begun = api.ok("POST", REINDEX)
    assert (begun["started"], begun["jobId"]) == (False, taken_back)
    api.ok("POST", f"/jobs/{taken_back}/cancel")
    assert ended(api, taken_back)["state"] == "cancelled"
    assert reads(api) == before

    job_id = api.ok("POST", REINDEX)["jobId"]
    made = 0
    while api.ok("GET", f"/jobs/{job_id}")["state"] in {"queued", "running"}:
        assert len(api.search(query="pump", databaseId=database, entityTypes=["asset"])) == 1
        api.ok("PUT", f"/database/{database}/assets/{pump}", {"description": f"round {made}"})
        made += 1
    assert api.ok("GET", f"/jobs/{job_id}")["state"] == "done"
    after = reads(api)
    assert set(after.values()).isdisjoint(before.values())
    runtime.drain()
    assert drift(api, database) == set()
    (item,) = api.search(query="pump", databaseId=database, entityTypes=["asset"])
    assert item["str_description"] == f"round {made - 1}"
    names = set(httpx.get(f"{runtime.endpoint['opensearch']}/_aliases", timeout=30).json())
    assert not names & set(before.values())
    assert set(after.values()) <= names


__all__ = ["s3"]

LARGE = 5_000_000
ODD = "/Löwe +1 #2/a b%.gltf"


def streamed(api: Api, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.send(method, path, headers=named)


def test_viewers_read_files_whole_in_parts_and_by_redirect(api: Api, database: str) -> None:
    asset = api.new_asset(database, "Lion")
    small, large = noise(5000, "small"), noise(LARGE, "large")
    files = {ODD: [small], "/large.bin": [large], "/a.svg": [b"<svg/>"], "/empty.txt": []}
    api.upload(database, asset, files)
    place = f"/database/{database}/assets/{asset}/download/stream"
    odd = f"{place}/{quote(ODD[1:])}"

    whole = streamed(api, odd)
    assert (whole.status_code, whole.content) == (200, small)
    assert whole.headers["content-type"] == "model/gltf+json"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["content-length"] == "5000"
    head = streamed(api, odd, "HEAD")
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-length", "content-type", "etag", "accept-ranges", "last-modified"):
        assert head.headers[name] == whole.headers[name]

    etag = whole.headers["etag"]
    assert streamed(api, odd, if_none_match=etag).status_code == 304
    part = streamed(api, odd, range="bytes=100-199", if_range=etag)
    assert (part.status_code, part.content) == (206, small[100:200])
    assert part.headers["content-range"] == "bytes 100-199/5000"
    assert streamed(api, odd, range="bytes=1-2", if_range='"other"').status_code == 200
    assert streamed(api, odd, range="bytes=0-1,5-6").content == small
    beyond = streamed(api, odd, range="bytes=5000-")
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, "bytes */5000")

    _follows_redirects(api, f"{place}/large.bin", large)
    assert streamed(api, f"{place}/large.bin", range="bytes=-10").content == large[-10:]
    svg = streamed(api, f"{place}/a.svg").headers["content-disposition"]
    assert svg.startswith("attachment")
    assert streamed(api, f"{place}/empty.txt").content == b""


def _follows_redirects(api: Api, path: str, large: bytes) -> None:
    away = streamed(api, path)
    assert (away.status_code, away.content) == (307, b"")
    where = away.headers["location"]
    assert urlsplit(where).netloc != urlsplit(str(api.http.base_url)).netloc
    assert httpx.get(where, timeout=60).content == large
    part = httpx.get(where, headers={"Range": "bytes=1000-4999999"}, timeout=60)
    assert (part.status_code, part.content) == (206, large[1000:])
    assert streamed(api, path, "HEAD").headers["content-length"] == str(LARGE)


def test_only_files_of_the_asset_in_the_wanted_version_are_streamed(
    api: Api, database: str, s3: Any
) -> None:
    asset, other = api.new_asset(database, "Lion"), api.new_asset(database, "Tiger")
    api.upload(database, asset, {"/a.txt": [b"first"]})
    api.upload(database, asset, {"/a.txt": [b"second"]})
    api.upload(database, other, {"/secret.txt": [b"secret"]})
    root = f"/database/{database}/assets/{asset}"
    info = api.ok("GET", f"{root}/fileInfo?filePath=/a.txt&includeVersions=true")
    first = next(version["versionId"] for version in info["versions"] if not version["isLatest"])
    place = f"{root}/download/stream"
    assert streamed(api, f"{place}/a.txt").content == b"second"
    assert streamed(api, f"{place}/a.txt?versionId={quote(first)}").content == b"first"
    for path, status in (
        ("none.txt", 404),
        ("a.txt?versionId=none", 404),
        ("a.txt?assetVersionId=0", 404),
        ("a.txt?assetVersionId=0&versionId=x", 400),
        (f"..%2F{other}%2Fsecret.txt", 400),
        (f"%2e%2e/{other}/secret.txt", 400),
        (f"{other}/secret.txt", 404),
        (f"a.txt/../../{other}/secret.txt".replace("..", "%2E%2E"), 400),
        ("a%0Ab", 400),
    ):
        answer = api.send("GET", f"{place}/{path}")
        assert answer.status_code == status, (path, answer.text)
        assert answer.json()["code"]
        assert api.send("HEAD", f"{place}/{path}").status_code == status, path

    _streams_viewers_files(api, s3, database, asset, other)
    api.ok("PUT", root, {"isDistributable": False})
    assert api.refused("GET", f"{place}/a.txt")[0] == 403
    api.ok("DELETE", f"{root}/archiveAsset", {"confirmArchive": True})
    assert api.refused("GET", f"{place}/a.txt")[0] == 404


def _streams_viewers_files(api: Api, s3: Any, database: str, asset: str, other: str) -> None:
    assets = f"/database/{database}/assets"
    bucket = next(item["Name"] for item in s3.list_buckets()["Buckets"] if "auxil" in item["Name"])
    key = f"{asset}/a.e57/preview/octree.bin"
    s3.put_object(Bucket=bucket, Key=key, Body=bytes(range(200)))
    viewer = f"{assets}/{asset}/auxiliaryPreviewAssets/stream"
    part = streamed(api, f"{viewer}/a.e57/preview/octree.bin", range="bytes=10-19")
    assert (part.status_code, part.content) == (206, bytes(range(10, 20)))
    assert streamed(api, f"{viewer}/{key}", "HEAD").headers["content-length"] == "200"
    assert streamed(api, f"{viewer}/none.bin").status_code == 404
    foreign = f"{assets}/{other}/auxiliaryPreviewAssets/stream/{key}"
    assert streamed(api, foreign).status_code == 404
