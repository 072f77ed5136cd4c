"""Versions of assets over HTTP: created, read and reverted, also by many clients at once.

It takes over 20 seconds: clients compete for numbers, and versions of many files are jobs.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.amounts import amount
from tests.journeys.many_files import ManyFiles
from tests.journeys.runtime import Api, Runtime, wait_for, wait_until

CLIENTS, EACH = amount("VERSION_CLIENTS"), 3
"""`make prove PART=lifecycles` takes more clients."""


def base_of(database: str, asset: str) -> str:
    return f"/database/{database}/assets/{asset}"


def made(api: Api, base: str, **body: Any) -> str:
    wanted = {"comment": "as it is", "useLatestFiles": True, **body}
    number = number_of(api, api.ok("POST", f"{base}/createVersion", wanted))
    assert number is not None
    return number


def number_of(api: Api, reply: dict[str, Any]) -> str | None:
    """The number of a version, once its job has ended if it took longer than its request."""
    if "jobId" not in reply:
        return reply["assetVersionId"]
    path = f"/jobs/{reply['jobId']}"
    wait_until(lambda: api.ok("GET", path)["state"] in {"done", "failed"})
    return api.ok("GET", path).get("result", {}).get("assetVersionId")


def listed(api: Api, base: str, **query: Any) -> list[dict[str, Any]]:
    return api.ok("GET", f"{base}/getVersions", params=query)["versions"]


def files(api: Api, base: str, number: str) -> dict[str, str]:
    whole = api.ok("GET", f"{base}/getVersion/{number}")
    return {file["relativeKey"]: file["versionId"] for file in whole["files"]}


def versions_found(api: Api, database: str) -> list[str]:
    hits = api.search(databaseId=database, entityTypes=["asset"])
    return [hit["str_asset_version_id"] for hit in hits]


def content(api: Api, base: str, **wanted: str) -> bytes:
    body = {"downloadType": "assetFile", "key": "/a.stl", **wanted}
    url = api.ok("POST", f"{base}/download", body)["downloadUrl"]
    return httpx.get(url).content


def record(value: str) -> dict[str, Any]:
    return {
        "metadata": [{"metadataKey": "year", "metadataValue": value, "metadataValueType": "string"}]
    }


def test_a_version_is_made_read_compared_and_reverted_to(api: Api, database: str) -> None:
    asset = api.new_asset(database, "A pump")
    base = base_of(database, asset)
    api.upload(database, asset, {"/a.stl": [b"solid old\n"], "/b.stl": [b"solid b\n"]})
    api.ok("POST", f"{base}/metadata", record("1889"))
    assert made(api, base, comment="the opening", versionAlias="v1") == "1"
    api.upload(database, asset, {"/a.stl": [b"solid new\n"], "/c.stl": [b"solid c\n"]})
    api.ok("PUT", f"{base}/metadata", record("1900"))
    latest = {
        item["relativePath"]: item["versionId"]
        for item in api.ok("GET", f"{base}/listFiles")["items"]
    }
    assert made(api, base, versionAlias=None, comment="named", **named(latest)) == "2"
    assert files(api, base, "2") == latest

    first = files(api, base, "1")
    assert first.keys() == {"/a.stl", "/b.stl"}
    for way in ({"assetVersionId": "1"}, {"assetVersionIdAlias": "v1"}):
        rows = api.ok("GET", f"{base}/listFiles", params=way)["items"]
        assert {row["relativePath"]: row["versionId"] for row in rows} == first
        shown = api.ok("GET", f"{base}/metadata", params=way)["metadata"]
        assert [item["metadataValue"] for item in shown] == ["1889"]
        info = api.ok("GET", f"{base}/fileInfo", params={"filePath": "/a.stl", **way})
        assert info["versionId"] == first["/a.stl"]
        assert content(api, base, **way) == b"solid old\n"
    reply = api.ok("GET", f"{base}/compareVersions", params={"from": "1", "to": "2"})
    changed = {
        kind: [item["relativeKey"] for item in some] for kind, some in reply["files"].items()
    }
    assert changed == {"added": ["/c.stl"], "removed": [], "changed": ["/a.stl"]}
    assert [item["metadataKey"] for item in reply["metadata"]["changed"]] == ["year"]

    body = {"comment": "back again", "revertMetadata": True}
    reverted = api.ok("POST", f"{base}/revertAssetVersion/1", body)
    assert (number_of(api, reverted), reverted.get("skippedFiles", [])) == ("3", [])
    assert content(api, base) == b"solid old\n"
    (now,) = api.ok("GET", f"{base}/metadata")["metadata"]
    assert now["metadataValue"] == "1889"
    wait_for(lambda: versions_found(api, database), ["3"])


def test_a_version_of_500_files_is_listed_as_soon_as_its_request_has_ended(
    runtime: Runtime, api: Api, database: str
) -> None:
    asset = api.new_asset(database, "Large")
    base = base_of(database, asset)
    names = tuple(f"/{number:03}.bin" for number in range(500))
    ManyFiles(runtime, database, asset, names).put(drained=False)
    body = {"comment": "as it is", "useLatestFiles": True}
    reply = api.ok("POST", f"{base}/createVersion", body)
    assert (reply["assetVersionId"], reply.get("jobId")) == ("1", None)
    assert [(v["Version"], v["fileCount"]) for v in listed(api, base)] == [("1", 500), ("0", 0)]
    ManyFiles(runtime, database, asset, names[:40]).put(drained=False)
    reply = api.ok("POST", f"{base}/revertAssetVersion/1", {"comment": "back again"})
    assert reply["assetVersionId"] == "2"
    assert number_of(api, reply) == "2"
    assert [item["fileCount"] for item in listed(api, base)] == [500, 500, 0]


def named(latest: dict[str, str]) -> dict[str, Any]:
    wanted = [{"relativeKey": path, "versionId": item} for path, item in latest.items()]
    return {"files": wanted, "useLatestFiles": False}


def test_many_clients_at_once_make_versions_with_numbers_of_their_own(
    runtime: Runtime, database: str
) -> None:
    apis = [runtime.client() for _ in range(CLIENTS)]
    asset = apis[0].new_asset(database, "Wanted by many")
    base = base_of(database, asset)
    apis[0].upload(database, asset, {"/a.stl": [b"solid\n"]})

    def work(number: int) -> list[dict[str, Any]]:
        api, replies = apis[number], list[dict[str, Any]]()
        for turn in range(EACH):
            body = {"comment": f"{number}.{turn}", "useLatestFiles": True}
            replies.append(api.ok("POST", f"{base}/createVersion", body))
            api.ok("PUT", base, {"description": f"edited by {number}, {turn}"})
        return replies

    with ThreadPoolExecutor(CLIENTS) as pool:
        replies = [item for some in pool.map(work, range(CLIENTS)) for item in some]
    answered = [number_of(apis[0], reply) for reply in replies]
    total = CLIENTS * EACH
    numbers = [int(item["Version"]) for item in listed(apis[0], base)]
    assert numbers == list(range(total, -1, -1))
    assert sorted(int(item or 0) for item in answered) == list(range(1, total + 1))
    comments = {item["Comment"] for item in listed(apis[0], base)[:-1]}
    assert comments == {f"{n}.{t}" for n in range(CLIENTS) for t in range(EACH)}
    assert apis[0].ok("GET", base)["currentVersion"]["Version"] == str(total)
    assert all(item["fileCount"] == 1 for item in listed(apis[0], base)[:-1])


def test_of_versions_made_at_once_each_is_one_that_a_reply_names(
    runtime: Runtime, database: str
) -> None:
    apis = [runtime.client() for _ in range(8)]
    asset = apis[0].new_asset(database, "Many files, many clients")
    base = base_of(database, asset)
    names = tuple(f"/{number:03}.bin" for number in range(67))
    made_by: set[str] = {"0"}
    for path, clients, body in (
        ("createVersion", 8, {"comment": "as it is", "useLatestFiles": True}),
        ("revertAssetVersion/1", 3, {"comment": "back again"}),
    ):
        ManyFiles(runtime, database, asset, names).put(drained=False)
        before = len(listed(apis[0], base))

        def send(api: Api, path: str = path, body: Any = body) -> httpx.Response:
            return api.send("POST", f"{base}/{path}", body)

        with ThreadPoolExecutor(clients) as pool:
            replies = list(pool.map(send, apis[:clients]))
        for reply in replies:
            refused = reply.json()
            assert reply.status_code in {200, 409, 429, 503}, refused
            # A call that was throttled has not run; one that ran replies in time, with a code.
            throttled = refused == {"message": "Service Unavailable"}
            assert reply.status_code == 200 or throttled or refused["code"], refused
        done = [number_of(apis[0], item.json()) for item in replies if item.status_code == 200]
        assert len(done) == len(set(done)) > 0
        made_by |= {str(number) for number in done}
        versions = listed(apis[0], base)
        assert len(versions) == before + len(done)
        assert {version["Version"] for version in versions} == made_by
        assert {version["fileCount"] for version in versions} == {67, 0}


def test_one_alias_is_given_once_however_many_want_it(runtime: Runtime, database: str) -> None:
    apis = [runtime.client() for _ in range(4)]
    asset = apis[0].new_asset(database, "Wanted")
    base = base_of(database, asset)
    body = {"comment": "mine", "useLatestFiles": True, "versionAlias": "golden"}

    def take(api: Api) -> str | None:
        reply = api.send("POST", f"{base}/createVersion", body)
        assert reply.status_code in {200, 409}, reply.text
        return number_of(api, reply.json()) if reply.status_code == 200 else None

    with ThreadPoolExecutor(len(apis)) as pool:
        numbers = [number for number in pool.map(take, apis) if number is not None]
    assert len(numbers) == 1
    assert [item["versionAlias"] for item in listed(apis[0], base)] == ["golden", ""]


def test_versions_keep_the_name_of_a_file_that_is_deleted_permanently(
    api: Api, database: str
) -> None:
    asset = api.new_asset(database, "Half of it")
    base = base_of(database, asset)
    api.upload(database, asset, {"/a.stl": [b"solid a\n"], "/b.stl": [b"solid b\n"]})
    api.ok("POST", f"{base}/metadata", record("1889"))
    of_file = {**record("1900"), "filePath": "/b.stl", "type": "metadata"}
    api.ok("POST", f"{base}/metadata/file", of_file)
    made(api, base)
    gone = {"filePath": "/b.stl", "confirmPermanentDelete": True}
    api.completed("DELETE", f"{base}/deleteFile", gone)
    whole = api.ok("GET", f"{base}/getVersion/1")
    states = {file["relativeKey"]: file["isPermanentlyDeleted"] for file in whole["files"]}
    assert states == {"/a.stl": False, "/b.stl": True}
    assert [item["metadataValue"] for item in whole["versionedMetadata"]] == ["1889"]
    assert [item["fileCount"] for item in listed(api, base)] == [2, 0]
    made(api, base)
    compared = api.ok("GET", f"{base}/compareVersions", params={"from": "1", "to": "2"})
    assert [file["relativeKey"] for file in compared["files"]["removed"]] == ["/b.stl"]
    reverted = api.ok("POST", f"{base}/revertAssetVersion/1", {"comment": "back"})
    assert reverted["skippedFiles"] == ["/b.stl"]


def test_the_current_version_is_archived_with_its_asset(
    runtime: Runtime, api: Api, database: str
) -> None:
    asset = api.new_asset(database, "A pump")
    base = base_of(database, asset)
    api.upload(database, asset, {"/a.stl": [b"solid\n"]})
    made(api, base)
    assert api.refused("POST", f"{base}/assetversions/1/archive")[0] == 409
    api.ok("POST", f"{base}/assetversions/1/archive", {"confirmArchiveAsset": True})
    assert api.refused("GET", base)[0] == 404
    assert [item["isArchived"] for item in listed(api, base, showArchived="true")] == [True, False]
    runtime.drain()
    api.ok("POST", f"{base}/assetversions/1/unarchive")
    runtime.drain()
    assert api.ok("GET", base)["status"] == "active"
    assert content(api, base, assetVersionId="1") == b"solid\n"
    api.ok("PUT", f"{base}/assetversions/0", {"comment": "the very first"})
    api.ok("POST", f"{base}/assetversions/0/archive")
    assert [item["Version"] for item in listed(api, base)] == ["1"]
    wanted = {"downloadType": "assetFile", "key": "/a.stl", "assetVersionId": "0"}
    assert api.refused("POST", f"{base}/download", wanted)[0] == 410
