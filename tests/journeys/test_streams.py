"""Bytes of files over HTTP, as viewers request them: ranges, validators, redirects, odd names."""

from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from tests.journeys.runtime import Api, noise
from tests.journeys.test_bucket_sync import s3

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
    first = next(one["versionId"] for one in info["versions"] if not one["isLatest"])
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
    bucket = next(one["Name"] for one in s3.list_buckets()["Buckets"] if "auxil" in one["Name"])
    key = f"{asset}/a.e57/preview/octree.bin"
    s3.put_object(Bucket=bucket, Key=key, Body=bytes(range(200)))
    viewer = f"{assets}/{asset}/auxiliaryPreviewAssets/stream"
    part = streamed(api, f"{viewer}/a.e57/preview/octree.bin", range="bytes=10-19")
    assert (part.status_code, part.content) == (206, bytes(range(10, 20)))
    assert streamed(api, f"{viewer}/{key}", "HEAD").headers["content-length"] == "200"
    assert streamed(api, f"{viewer}/none.bin").status_code == 404
    foreign = f"{assets}/{other}/auxiliaryPreviewAssets/stream/{key}"
    assert streamed(api, foreign).status_code == 404
