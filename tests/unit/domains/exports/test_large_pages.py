"""Large pages of exports: compressed, or stored."""

import base64
import gzip
import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from backend.http.app import HttpApp
from tests.factories.exports import Exports, exports
from tests.factories.files import AUXILIARY
from tests.factories.http import Response
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.exports.test_exports import paths


@pytest.fixture
def museum() -> Exports:
    return exports(MemoryTables(), MemoryObjects())


def stored(museum: Exports, answer: Response) -> Any:
    """The page that a redirect names."""
    assert answer.status == 303, answer.body
    url = answer.headers["Location"]
    assert answer.body == {
        "message": "The page is stored",
        "presignedExportPayloadUrl": url,
        "presignedExportPayloadExpiresIn": 900,
    }
    at = urlsplit(url)
    assert at.netloc == AUXILIARY
    assert re.fullmatch(r"/temp-uploads/exports/[0-9a-f-]{36}\.json", at.path)
    content = b"".join(museum.objects.read_chunks(AUXILIARY, at.path[1:]))
    return json.loads(content)


def test_a_large_page_is_stored_for_clients_that_send_max_files(
    museum: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        museum.put("hall", f"/{number:02}.txt")
    assert museum.export(maxFiles=100).status == 200
    monkeypatch.setattr("backend.domains.exports.routes.STORED_BYTES", 2000)
    assert museum.export().status == 200
    pages = [stored(museum, museum.export(maxFiles=8))]
    while "NextToken" in pages[-1]:
        answer = museum.export(maxFiles=8, startingToken=pages[-1]["NextToken"])
        pages.append(answer.body if answer.status == 200 else stored(museum, answer))
    (whole,) = museum.pages()
    listed = [path for page in pages for asset in page["assets"] for path in paths(asset)]
    assert listed == [path for asset in whole["assets"] for path in paths(asset)]


def test_a_page_that_no_reply_holds_is_stored(
    museum: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        museum.put("hall", f"/{number:02}.txt")
    plain = museum.export()
    monkeypatch.setattr("backend.http.packing.MAX_REPLY_BYTES", 3000)
    assert stored(museum, museum.export()) == plain.body
    monkeypatch.setattr("backend.http.packing.COMPRESSED_CHARS", 100)
    assert stored(museum, museum.export(headers={"accept-encoding": "br"})) == plain.body
    assert raw(museum, monkeypatch)["statusCode"] == 200


def test_a_large_page_goes_as_gzip_to_those_who_take_it(
    museum: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = museum.export()
    monkeypatch.setattr("backend.http.packing.COMPRESSED_CHARS", 100)
    assert museum.export().body == plain.body
    refusing = {"accept-encoding": "br, gzip;q=0."}
    assert museum.export(headers=refusing).body == plain.body
    packed = raw(museum, monkeypatch)
    assert packed["isBase64Encoded"] is True
    assert packed["headers"]["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(base64.b64decode(packed["body"]))) == plain.body


def raw(museum: Exports, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The answer of the function itself, to a client that takes gzip."""
    result: list[Any] = []
    made = HttpApp.handler

    def noting(app: HttpApp, router: Any) -> Any:
        handler = made(app, router)

        def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
            reply = handler(event, context)
            result.append(reply)
            text = gzip.decompress(base64.b64decode(reply["body"])).decode()
            return {**reply, "body": text, "isBase64Encoded": False}

        return handle

    monkeypatch.setattr(HttpApp, "handler", noting)
    museum.export(headers={"accept-encoding": "deflate, GZIP;q=0.5"})
    return result[0]
