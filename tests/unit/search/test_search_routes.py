"""The replies of the search routes, over a service with planned results."""

from typing import Any, cast

import pytest

from backend.http.app import MAX_REPLY_BYTES
from backend.search.query.routes import build_router
from backend.search.query.service import SearchService
from tests.factories.http import Client


class OneHitService:
    """A service whose only hit holds `text`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def search(self, *_: object, **__: object) -> dict[str, Any]:
        about = {"_id": "1", "_index": "assets", "_index_type": "asset"}
        hits = [{**about, "_source": {"str_description": self.text}}]
        return {"took": 1, "timed_out": False, "hits": {"total": {"value": 1}, "hits": hits}}

    search_simple = search


@pytest.mark.parametrize("path", ["/search", "/search/simple"])
@pytest.mark.parametrize("char", ["x", "ä", '"', "\\"], ids=["letter", "umlaut", "quote", "escape"])
def test_a_reply_that_no_function_can_send_is_refused_and_names_the_size(
    path: str, char: str
) -> None:
    share = {"x": 1, "ä": 2, '"': 4, "\\": 4}[char]
    fits, over = MAX_REPLY_BYTES // share - 1000, MAX_REPLY_BYTES // share + 1
    for length, status in ((fits, 200), (over, 413)):
        service = cast("SearchService", OneHitService(char * length))
        answer = Client(build_router(service)).send("POST", path, body={})
        assert answer.status == status
    assert answer.body["errors"][0]["field"] == "size"
    assert "at most 5900000 are allowed" in answer.body["message"]


def test_large_replies_are_compressed_and_have_the_fields_that_a_client_names() -> None:
    service = cast("SearchService", OneHitService("x" * 100_000))
    client = Client(build_router(service))
    for path in ("/search", "/search/simple"):
        answer = client.send("POST", path, body={}, headers={"accept-encoding": "gzip"})
        assert answer.headers["Content-Encoding"] == "gzip"
    for fields in ([], ["str_assetname"], ["str_description", "MD_"]):
        answer = client.send("POST", "/search", body={"sourceFields": fields})
        (hit,) = answer.body["hits"]["hits"]
        assert list(hit["_source"]) == [name for name in fields if name == "str_description"]
    refused = client.send("POST", "/search", body={"sourceFields": ["x"] * 101})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "sourceFields")
