"""URLs of files and previews, and bytes through the API: what may be downloaded, and how."""

import json
from functools import partial
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from backend.aws.objects import S3Objects
from backend.core.reads import Read, ReadAsset
from backend.core.tables import Tables
from backend.domains.downloads import rules
from backend.domains.downloads.routes import build_router
from backend.domains.downloads.service import StreamService
from tests.factories.files import AUXILIARY, BUCKET, PARAMETERS, PATH, Gallery, gallery
from tests.factories.http import Client
from tests.factories.lifecycle import interrupt
from tests.unit.domains.files.changes import memory, snapshot


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def stored_version(tables: Tables, version: str, s3_version: str, **more: Any) -> None:
    snapshot(tables, version, {"/a.glb": s3_version}, **more)


def test_the_url_of_a_file_expires_at_the_stated_time(museum: Gallery) -> None:
    version_id = museum.put("/scans/ä b.glb")
    answer = museum.download(key="/scans/ä b.glb")
    assert answer.status == 200
    assert (answer.body["expiresIn"], answer.body["versionId"]) == (900, version_id)
    assert answer.body["downloadType"] == "assetFile"
    url = str(answer.body["downloadUrl"])
    assert unquote(urlsplit(url).path).endswith("statue/scans/ä b.glb")
    query = query_of(url)
    assert query["X-Amz-Expires"] == "900"
    assert query["versionId"] == version_id
    assert query["response-content-type"] == "model/gltf-binary"
    disposition = "inline; filename*=UTF-8''%C3%A4%20b.glb"
    assert query["response-content-disposition"] == disposition


def test_what_can_run_a_script_is_only_downloaded(museum: Gallery) -> None:
    for name in ("a.svg", "a.HTML", "a.htm", "a.xml", "a.js", "a.mjs", "a.xhtml", "a.dae"):
        museum.put(f"/{name}", b"<svg/>")
        query = query_of(museum.download(key=f"/{name}").body["downloadUrl"])
        assert query["response-content-disposition"].startswith("attachment"), name
        headers = museum.stream(name).headers
        assert headers["Content-Disposition"].startswith("attachment"), name
        assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"
    museum.put("/a.png")
    query = query_of(museum.download(key="/a.png").body["downloadUrl"])
    assert query["response-content-disposition"].startswith("inline")


@pytest.mark.parametrize("name", ["ä.png", "a.jpg", "a.txt", "a.json", "a.pdf", "a.glb", "a.svg"])
def test_a_file_is_saved_on_request(museum: Gallery, name: str) -> None:
    museum.put(f"/{name}")
    shown, saved = (
        query_of(museum.download(key=f"/{name}", **wanted).body["downloadUrl"])
        for wanted in ({}, {"attachment": True})
    )
    disposition = f"attachment; filename*=UTF-8''{quote(name)}"
    assert saved["response-content-disposition"] == disposition
    assert saved["response-content-type"] == shown["response-content-type"]


def test_absent_things_are_not_found(museum: Gallery) -> None:
    museum.put("/a.glb")
    for code, body in (
        ("FileNotFound", {"key": "/none.glb"}),
        ("FileNotFound", {"key": "/a.glb", "versionId": "none"}),
        ("AssetVersionNotFound", {"key": "/a.glb", "assetVersionId": "7"}),
        ("FileNotFound", {"key": "/a.glb", "assetVersionId": "0"}),
        ("AssetVersionNotFound", {"key": "/a.glb", "assetVersionIdAlias": "opening"}),
        ("PreviewNotFound", {"downloadType": "assetPreview"}),
    ):
        answer = museum.download(**body)
        assert (answer.status, answer.body["code"]) == (404, code), body


@pytest.mark.parametrize("way", [{"assetVersionId": "0"}, {"assetVersionIdAlias": "opening"}])
def test_a_preview_of_a_version_of_the_asset_is_refused_not_another_one_served(
    museum: Gallery, way: dict[str, str]
) -> None:
    answer = museum.download(downloadType="assetPreview", **way)
    assert answer.status == 400
    assert "do not contain its preview" in answer.body["message"]


def test_a_preview_at_the_root_of_the_asset_is_its_preview_and_a_file(museum: Gallery) -> None:
    museum.put("/preview.png", b"png")
    listed = museum.list_files().body["items"]
    assert [item["relativePath"] for item in listed] == ["/preview.png"]
    for way in ({"downloadType": "assetPreview"}, {"key": "/preview.png"}):
        answer = museum.download(**way)
        assert answer.status == 200
        assert "statue/preview.png" in answer.body["downloadUrl"]
    museum.assets.set_content(museum.asset, preview_key="previews/statue/front.png")
    front = "previews/statue/front.png"
    museum.objects.put(BUCKET, front, b"png", content_type="image/png", metadata={})
    url = museum.download(downloadType="assetPreview").body["downloadUrl"]
    assert "previews/statue/front.png" in url


def test_an_archived_file_is_absent_and_its_versions_are_not(museum: Gallery) -> None:
    version_id = museum.put("/a.glb")
    museum.objects.delete(BUCKET, "statue/a.glb")
    marker = museum.objects.list_versions(BUCKET, "statue/").versions[0].version_id
    assert museum.download(key="/a.glb").status == 410
    assert museum.download(key="/a.glb", versionId=marker).status == 410
    assert museum.download(key="/a.glb", versionId=version_id).status == 200


def test_a_version_is_named_in_one_of_three_ways(museum: Gallery, tables: Tables) -> None:
    first = museum.put("/a.glb")
    museum.put("/a.glb", b"newer")
    stored_version(tables, "3", first, versionAlias="opening")
    for way in (
        {"versionId": first},
        {"assetVersionId": "3"},
        {"assetVersionIdAlias": "opening"},
    ):
        answer = museum.download(key="/a.glb", **way)
        assert (answer.status, answer.body["versionId"]) == (200, first)
    both = museum.download(key="/a.glb", versionId=first, assetVersionId="3")
    assert both.status == 400
    assert [error["field"] for error in both.body["errors"]] == ["assetVersionId"]
    assert "at most one" in both.body["message"]
    stored_version(tables, "4", first, isArchived=True)
    assert museum.download(key="/a.glb", assetVersionId="4").status == 410


def test_wrong_fields_are_refused(museum: Gallery) -> None:
    museum.objects.put(BUCKET, "vase/secret.glb", b"s", content_type="text/plain", metadata={})
    for body, field in (
        ({"key": "/../vase/secret.glb"}, "key"),
        ({"key": "/cafe\u0301.glb"}, "key"),
        ({"key": ""}, "key"),
        ({"key": 7}, "key"),
        ({"key": "/a", "assetVersionId": "one"}, "assetVersionId"),
        ({"key": "/a", "versionId": ""}, "versionId"),
        ({"downloadType": "all", "key": "/a"}, "downloadType"),
        ({}, "key"),
        ({"downloadType": "assetPreview", "assetVersionIdAlias": "a"}, "assetVersionIdAlias"),
    ):
        answer = museum.download(**body)
        assert answer.status == 400, body
        assert answer.body["errors"][0]["field"] == field, body
    assert museum.download(key="vase/secret.glb").status == 404


def test_each_of_many_files_has_its_own_result(museum: Gallery, tables: Tables) -> None:
    first = museum.put("/a.glb")
    newest = museum.put("/a.glb", b"newer")
    museum.put("/b.glb")
    museum.objects.delete(BUCKET, "statue/b.glb")
    old = {"key": "/a.glb", "versionId": first}
    answer = museum.download(keys=["/none.glb", "/a.glb", old, "/b.glb", "/../x", "statue/a.glb"])
    assert answer.status == 200, answer.body
    files = answer.body["files"]
    assert [(file["key"], file["success"], file["versionId"]) for file in files] == [
        ("/none.glb", False, None),
        ("/a.glb", True, newest),
        ("/a.glb", True, first),
        ("/b.glb", False, None),
        ("/../x", False, None),
        ("statue/a.glb", True, newest),
    ]
    assert [file["downloadUrl"] is not None for file in files] == [
        file["error"] is None for file in files
    ]
    assert "is archived" in files[3]["error"]
    assert answer.body["downloadUrl"] == files[1]["downloadUrl"]
    assert answer.body["message"] == "3 of 6 files can be downloaded for 900 seconds"
    client = Client(build_router(museum.downloads, museum.streams, museum.views))
    body = {"downloadType": "assetFile", "keys": ["/none.glb", "/a.glb", old]}
    client.send("POST", f"{PATH}/download", parameters=PARAMETERS, body=body)
    ((*_, read),) = client.reads.recorded
    assert read == Read((ReadAsset("museum", "statue", ("/a.glb",)),), urls=True, all_named=True)
    stored_version(tables, "3", first)
    held = museum.download(keys=["/a.glb", "/b.glb"], assetVersionId="3").body["files"]
    assert [file["versionId"] for file in held] == [first, None]


@pytest.mark.parametrize(
    ("body", "field", "fact"),
    [
        ({"keys": ["/gone.glb"]}, "keys", "no file of 1 can be downloaded"),
        ({"keys": []}, "keys", "at least 1"),
        ({"keys": ["/a.glb"] * 1501}, "keys", "at most 1500"),
        ({"keys": ["/a.glb"], "key": "/a.glb"}, "keys", "must not be used with key"),
        ({"keys": ["/a.glb"], "versionId": "x"}, "versionId", "of each key"),
        ({"keys": ["/a.glb"], "downloadType": "assetPreview"}, "keys", "assetFile"),
        (
            {"keys": [{"key": "/a.glb", "versionId": "x"}], "assetVersionId": "0"},
            "keys.0.versionId",
            "must not be used with assetVersionId",
        ),
        ({"keys": [{"versionId": "x"}]}, "keys.0.key", "required"),
    ],
)
def test_wrong_requests_for_many_files_are_refused(
    museum: Gallery, body: dict[str, Any], field: str, fact: str
) -> None:
    museum.put("/a.glb")
    answer = museum.download(**body)
    assert answer.status == 400, answer.body
    assert fact in answer.body["message"]
    assert field in [error["field"] for error in answer.body["errors"]]


BODY = bytes(range(200))


def put_auxiliary(museum: Gallery, key: str, body: bytes = BODY) -> None:
    museum.objects.put(AUXILIARY, key, body, content_type="text/html", metadata={})


def test_a_file_is_served_whole_with_what_caches_need(museum: Gallery) -> None:
    version_id = museum.put("/scans/ä b#1.glb", BODY)
    answer = museum.stream("scans/ä b#1.glb")
    assert (answer.status, answer.body) == (200, BODY)
    headers = answer.headers
    assert headers["Content-Type"] == "model/gltf-binary"
    assert headers["Content-Disposition"] == "inline; filename*=UTF-8''%C3%A4%20b%231.glb"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["Cache-Control"] == "private, no-cache"
    assert headers["X-Amz-Version-Id"] == version_id
    assert headers["Last-Modified"].endswith("GMT")
    again = museum.stream("scans/ä b#1.glb", headers={"if-none-match": headers["ETag"]})
    assert (again.status, again.body) == (304, None)
    for name in ("a.json", "a.gltf", "a.txt"):  # JSON is bytes too
        museum.put(f"/{name}", b'{"asset": 1}')
        assert museum.stream(name).body == b'{"asset": 1}', name


def test_a_range_is_partial_content(museum: Gallery) -> None:
    museum.put("/a.bin", BODY)
    answer = museum.stream("a.bin", headers={"range": "bytes=10-19"})
    assert (answer.status, answer.body) == (206, BODY[10:20])
    assert answer.headers["Content-Range"] == "bytes 10-19/200"
    answer = museum.stream("a.bin", headers={"range": "bytes=-5"})
    assert (answer.status, answer.body) == (206, BODY[-5:])
    answer = museum.stream("a.bin", headers={"range": "bytes=0-999"})
    assert (answer.status, answer.headers["Content-Range"]) == (206, "bytes 0-199/200")
    for several in ("bytes=0-1,4-5", "lines=1-2", "bytes=x"):
        answer = museum.stream("a.bin", headers={"range": several})
        assert (answer.status, answer.body) == (200, BODY)


def test_a_range_beyond_the_end_is_refused_with_the_size(museum: Gallery) -> None:
    museum.put("/a.bin", BODY)
    answer = museum.stream("a.bin", headers={"range": "bytes=200-"})
    assert (answer.status, answer.body["code"]) == (416, "RangeNotSatisfiable")
    assert answer.headers["Content-Range"] == "bytes */200"
    museum.put("/empty.bin", b"")
    answer = museum.stream("empty.bin")
    assert (answer.status, answer.body) == (200, None)
    assert museum.stream("empty.bin", headers={"range": "bytes=0-"}).status == 416


def test_a_range_of_a_file_that_changed_is_the_whole_new_file(museum: Gallery) -> None:
    museum.put("/a.bin", BODY)
    etag = museum.stream("a.bin", method="HEAD").headers["ETag"]
    query = {"range": "bytes=0-1", "if-range": etag}
    assert museum.stream("a.bin", headers=query).status == 206
    museum.put("/a.bin", b"newer")
    answer = museum.stream("a.bin", headers=query)
    assert (answer.status, answer.body) == (200, b"newer")


def test_content_above_the_limit_of_replies_is_redirected(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "STREAMED_BYTES", 100)
    version_id = museum.put("/a.svg", BODY)
    answer = museum.stream("a.svg")
    assert (answer.status, answer.body) == (307, None)
    assert answer.headers["Cache-Control"] == "no-cache, no-store"
    query = query_of(answer.headers["Location"])
    assert query["versionId"] == version_id
    assert query["response-content-disposition"].startswith("attachment")
    assert museum.stream("a.svg", headers={"range": "bytes=0-100"}).status == 307
    assert museum.stream("a.svg", headers={"range": "bytes=0-99"}).status == 206
    assert museum.stream("a.svg", headers={"range": "bytes=200-"}).status == 416


def test_the_largest_body_fits_a_reply_of_a_function() -> None:
    assert rules.STREAMED_BYTES * 4 / 3 + 20_000 < 6_291_556


def test_head_shows_the_same_without_bytes_and_without_redirect(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.put("/a.bin", BODY)
    got = museum.stream("a.bin").headers
    monkeypatch.setattr(rules, "STREAMED_BYTES", 1)
    answer = museum.stream("a.bin", method="HEAD", headers={"range": "bytes=1-2"})
    assert (answer.status, answer.body) == (200, None)
    assert answer.headers == {**got, "Content-Length": "200"}
    assert museum.stream("none.bin", method="HEAD").status == 404


def test_a_key_of_the_asset_names_its_file_too(museum: Gallery) -> None:
    museum.put("/a.bin", BODY)
    museum.put("/statue/a.bin", b"other")
    assert museum.stream("statue/a.bin").body == BODY
    assert museum.stream("/statue/a.bin").body == b"other"


@pytest.mark.parametrize(
    "path", ["../other/a.bin", "a/../../other/a.bin", "a//b", "./a", "a/", "..", "a\\b", "a\nb"]
)
def test_nothing_outside_the_asset_is_served(museum: Gallery, path: str) -> None:
    museum.objects.put(BUCKET, "other/a.bin", BODY, content_type="text/plain", metadata={})
    put_auxiliary(museum, "other/a.bin")
    for family in ("download", "auxiliaryPreviewAssets"):
        answer = museum.stream(path, family=family)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "proxy")
    # nor of assets whose name begins alike
    museum.objects.put(BUCKET, "statue2/a.bin", BODY, content_type="text/plain", metadata={})
    put_auxiliary(museum, "statue2/a.bin")
    for family in ("download", "auxiliaryPreviewAssets"):
        assert museum.stream("statue2/a.bin", family=family).status == 404


def test_absent_archived_and_old_versions(museum: Gallery, tables: Tables) -> None:
    assert museum.stream("none.glb").status == 404
    first = museum.put("/a.glb", b"first")
    museum.put("/a.glb", b"second")
    assert museum.stream("a.glb", query={"versionId": first}).body == b"first"
    assert museum.stream("a.glb", query={"versionId": "none"}).status == 404
    stored_version(tables, "3", first)
    stored_version(tables, "4", first, isArchived=True)
    assert museum.stream("a.glb", query={"assetVersionId": "3"}).body == b"first"
    assert museum.stream("a.glb", query={"assetVersionId": "4"}).status == 410
    assert museum.stream("a.glb", query={"assetVersionId": "9"}).status == 404
    assert museum.stream("a.glb", query={"assetVersionIdAlias": "none"}).status == 404
    both = {"versionId": first, "assetVersionId": "3"}
    assert museum.stream("a.glb", query=both).status == 400
    museum.objects.delete(BUCKET, "statue/a.glb")
    assert museum.stream("a.glb").status == 410
    assert museum.stream("a.glb", method="HEAD").status == 410


def test_assets_that_are_not_distributable_or_not_visible_give_no_bytes(
    tables: Tables, objects: S3Objects
) -> None:
    museum = gallery(tables, objects, is_distributable=False)
    museum.put("/a.bin", BODY)
    put_auxiliary(museum, "statue/a.bin")
    answer = museum.download(key="/a.bin")
    assert (answer.status, answer.body["message"]) == (400, "Asset not distributable")
    assert answer.body["code"] == "AssetNotDistributable"
    stranger = museum.as_user("stranger")
    assert stranger.download(key="/a.bin").status == 403
    for family in ("download", "auxiliaryPreviewAssets"):
        answer = museum.stream("a.bin", family=family)
        assert (answer.status, answer.body["code"]) == (403, "AssetNotStreamable")
        for method in ("GET", "HEAD"):
            assert stranger.stream("a.bin", method=method, family=family).status in {403, 404}


def test_viewers_files_are_served_from_their_bucket(museum: Gallery) -> None:
    put_auxiliary(museum, "statue/a.e57/preview/octree.bin")
    for path in ("a.e57/preview/octree.bin", "statue/a.e57/preview/octree.bin"):
        answer = museum.stream(path, family="auxiliaryPreviewAssets")
        assert (answer.status, answer.body) == (200, BODY)
        assert answer.headers["Content-Type"] == "application/octet-stream"
    path = "a.e57/preview/octree.bin"
    part = museum.stream(path, family="auxiliaryPreviewAssets", headers={"range": "bytes=5-6"})
    assert (part.status, part.body) == (206, BODY[5:7])
    head = museum.stream(path, family="auxiliaryPreviewAssets", method="HEAD")
    assert head.headers["Content-Length"] == "200"
    assert museum.stream("none", family="auxiliaryPreviewAssets").status == 404


def test_bytes_are_those_of_the_headers_also_when_the_file_is_replaced(
    museum: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_auxiliary(museum, "statue/a.bin")
    replace = partial(put_auxiliary, museum, "statue/a.bin", b"newer" * 9)
    interrupt(monkeypatch, StreamService, "_head", replace, after=True)
    answer = museum.stream("a.bin", family="auxiliaryPreviewAssets")
    assert (answer.status, answer.body) == (200, b"newer" * 9)


def test_bytes_are_refused_until_they_are_restored() -> None:
    tables, objects = memory()
    museum = gallery(tables, objects)
    museum.put("/a.glb", b"points")
    assert museum.download(key="/a.glb").status == 200
    objects.archived.add((BUCKET, "statue/a.glb"))
    for answer in (museum.download(key="/a.glb"), museum.stream("a.glb")):
        assert answer.status == 409
        assert b"FileNotRestored" in json.dumps(answer.body).encode()
    assert museum.stream("a.glb", method="HEAD").status == 200
