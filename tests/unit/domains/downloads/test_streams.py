"""Bytes of files through the API: how they are served, and what is not."""

from typing import Any

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.domains.downloads import rules
from backend.domains.downloads.service import StreamService
from tests.factories.files import AUXILIARY, BUCKET, Gallery, gallery
from tests.unit.domains.downloads.test_downloads import query_of, stored_version

BODY = bytes(range(200))


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Gallery:
    return gallery(tables, S3Objects(s3()))


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


def test_json_is_bytes_too(museum: Gallery) -> None:
    for name in ("a.json", "a.gltf", "a.txt"):
        museum.put(f"/{name}", b'{"asset": 1}')
        answer = museum.stream(name)
        assert answer.body == b'{"asset": 1}', name


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


def test_an_empty_file_is_served(museum: Gallery) -> None:
    museum.put("/a.bin", b"")
    answer = museum.stream("a.bin")
    assert (answer.status, answer.body) == (200, None)
    assert museum.stream("a.bin", headers={"range": "bytes=0-"}).status == 416


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


def test_what_can_run_a_script_is_only_downloaded(museum: Gallery) -> None:
    for name in ("a.svg", "a.HTML", "a.xml", "a.js"):
        museum.put(f"/{name}", b"<svg/>")
        headers = museum.stream(name).headers
        assert headers["Content-Disposition"].startswith("attachment"), name
        assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"


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


def test_other_assets_whose_name_begins_alike_are_not_served(museum: Gallery) -> None:
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
    for family in ("download", "auxiliaryPreviewAssets"):
        answer = museum.stream("a.bin", family=family)
        assert (answer.status, answer.body["code"]) == (403, "AssetNotStreamable")


def test_strangers_get_nothing(museum: Gallery) -> None:
    museum.put("/a.bin", BODY)
    for family in ("download", "auxiliaryPreviewAssets"):
        for method in ("GET", "HEAD"):
            answer = museum.as_user("stranger").stream("a.bin", method=method, family=family)
            assert answer.status in {403, 404}


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
    look = StreamService._head  # pyright: ignore[reportPrivateUsage]
    newer = [b"newer" * 9]

    def replaced_after(service: StreamService, place: Any) -> Any:
        head = look(service, place)
        if newer:
            put_auxiliary(museum, "statue/a.bin", newer.pop())
        return head

    monkeypatch.setattr(StreamService, "_head", replaced_after)
    answer = museum.stream("a.bin", family="auxiliaryPreviewAssets")
    assert (answer.status, answer.body) == (200, b"newer" * 9)
