"""Bytes of files from the client: complete, in part, redirected; also on the command line."""

import json

import httpx
import pytest
from vitrine import ApiError, ExportFlags, GoneError, NotFoundError, RangeError, Vitrine
from vitrine.resources.streams import Source

from tests.unit.client.conftest import World
from tests.unit.client.fake_files import STORAGE, Document, StreamedBody, refuse
from tests.unit.client.fake_server import FakeServer

BODY = bytes(range(100))
SMALL = Source(database_id="garage", asset_id="pump", path="/a b/ä#.glb")
LARGE = Source(database_id="garage", asset_id="pump", path="large.bin")


class StreamServer(FakeServer):
    """Serves two files: one by itself, and one from the storage."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[httpx.Request] = []
        self.storage = httpx.MockTransport(self.serve_bytes)
        self.body = BODY

    def _route(self, request: httpx.Request, parts: list[str], body: Document) -> httpx.Response:
        if "stream" not in parts:
            return super()._route(request, parts, body)
        self.sent.append(request)
        family, name = parts[4], "/".join(parts[6 if parts[4] == "download" else 5 :])
        answers: dict[str, httpx.Response] = {
            "a b/ä#.glb": self._small(request),
            "large.bin": httpx.Response(307, headers={"Location": f"{STORAGE}/large"}),
            "lost.bin": httpx.Response(307),
            "archived.bin": httpx.Response(410, json={"message": "gone", "code": "FileArchived"}),
        }
        if family == "auxiliaryPreviewAssets":
            return httpx.Response(200, content=b"octree")
        return answers.get(name) or refuse(404, "no such file", code="FileNotFound")

    def _small(self, request: httpx.Request) -> httpx.Response:
        headers = {"Content-Type": "model/gltf-binary", "ETag": '"e"', "X-Amz-Version-Id": "v1"}
        if request.method == "HEAD":
            return httpx.Response(200, headers={**headers, "Content-Length": "100"})
        wanted = request.headers.get("Range")
        if wanted is None:
            return httpx.Response(200, content=BODY, headers=headers)
        first, last = wanted.removeprefix("bytes=").split("-")
        if int(first) >= len(BODY):
            return httpx.Response(416, json={"message": "100 bytes", "code": "RangeNotSatisfiable"})
        return httpx.Response(206, content=BODY[int(first) : int(last or 99) + 1], headers=headers)

    def serve_bytes(self, request: httpx.Request) -> httpx.Response:
        assert "Authorization" not in request.headers, "the key went to the storage"
        self.storage_requests.append(request)
        status = 206 if "Range" in request.headers else 200
        return httpx.Response(status, stream=StreamedBody(self.body))


@pytest.fixture
def server() -> StreamServer:
    return StreamServer()


def test_a_file_is_read_whole_or_in_part_or_its_head(client: Vitrine, server: StreamServer) -> None:
    with client.streams.open(SMALL) as pieces:
        assert b"".join(pieces) == BODY
    assert "Range" not in server.sent[-1].headers
    for span, wanted, sent in (
        ((10, 20), BODY[10:20], "bytes=10-19"),
        ((90, None), BODY[90:], "bytes=90-"),
        ((0, 5), BODY[:5], "bytes=0-4"),
    ):
        with client.streams.open(SMALL, start=span[0], end=span[1]) as pieces:
            assert b"".join(pieces) == wanted
        assert server.sent[-1].headers["Range"] == sent
    head = client.streams.head(SMALL)
    assert (head.size, head.content_type) == (100, "model/gltf-binary")
    assert (head.etag, head.version_id) == ('"e"', "v1")


def test_versions_viewers_and_large_files_are_read(
    client: Vitrine, server: StreamServer, world: World
) -> None:
    by_version = Source(
        database_id="garage", asset_id="pump", path="a b/ä#.glb", asset_version_id="3"
    )
    with client.streams.open(by_version) as pieces:
        assert b"".join(pieces) == BODY
    assert dict(server.sent[-1].url.params) == {"assetVersionId": "3"}
    viewer = Source(database_id="garage", asset_id="pump", path="x/octree.bin", family="viewer")
    with client.streams.open(viewer) as pieces:
        assert b"".join(pieces) == b"octree"
    with world.client.streams.open(LARGE, start=3, end=7) as pieces:
        assert b"".join(pieces) == BODY
    (request,) = world.server.storage_requests
    assert request.headers["Range"] == "bytes=3-6"
    assert world.server.sent[-1].url.path.endswith("/download/stream/large.bin")


@pytest.mark.parametrize(
    ("path", "prefix", "named"),
    [
        ("/base/pump/x", "base/pump/", "base/pump/base/pump/x"),
        ("base/pump/x", "base/pump/", "base/pump/x"),
        ("/x", "base/pump/", "x"),
        ("x", "base/pump/", "x"),
        ("/base/pump/x", None, "base/pump/x"),
    ],
)
def test_a_path_stays_one_for_who_states_how_the_keys_of_the_asset_begin(
    path: str, prefix: str | None, named: str
) -> None:
    source = Source(database_id="garage", asset_id="pump", path=path, prefix=prefix)
    assert source.url_path.split("/stream/")[1] == named


def test_what_cannot_be_read_is_an_error_of_its_own(client: Vitrine) -> None:
    def source(path: str) -> Source:
        return Source(database_id="garage", asset_id="pump", path=path)

    for path, kind in (
        ("archived.bin", GoneError),
        ("none.bin", NotFoundError),
        ("lost.bin", ApiError),  # a redirect to nowhere
    ):
        with pytest.raises(kind), client.streams.open(source(path)):
            pass
    with pytest.raises(RangeError), client.streams.open(SMALL, start=100):
        pass


def test_a_stored_page_of_an_export_is_read_without_the_key(
    client: Vitrine, server: StreamServer
) -> None:
    page: Document = {"assets": [], "totalAssetsInTree": 1, "assetsInThisPage": 0}
    where = {"Location": f"{STORAGE}/temp-uploads/exports/a.json"}
    server.fail("POST", "export$", httpx.Response(303, headers=where, json={"message": "stored"}))
    server.body = json.dumps({**page, "NextToken": "t"}).encode()
    server.fail("POST", "export$", httpx.Response(200, json={**page, "totalAssetsInTree": 2}))
    pages = client.exports.pages("garage", "pump", ExportFlags(max_files=10))
    assert [read.total_assets_in_tree for read in pages] == [1, 2]
    assert [sent.url.path for sent in server.storage_requests] == ["/temp-uploads/exports/a.json"]
    assert server.calls("POST", "export$") == 2
