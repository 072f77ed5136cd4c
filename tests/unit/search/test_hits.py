"""How many requests a page takes, and how many bytes OpenSearch builds for one of them."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from backend.core.errors import TooLargeError
from backend.core.search_engine import JsonObject
from backend.http.app import MAX_REPLY_BYTES
from backend.search.query.hits import (
    DOCUMENT_BYTES,
    MARKED_AT_ONCE,
    PAGE_BYTES,
    with_sources,
)
from backend.search.query.models import SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search

VISIBLE: dict[str, Any] = {"term": {"list_tags.keyword": "open"}}


@dataclass
class Documents:
    """Documents of one index, by id, with the sizes that it stores; it notes what it builds."""

    sizes: dict[str, int | None]
    requests: list[JsonObject] = field(default_factory=list[JsonObject])
    built: list[int] = field(default_factory=list[int])
    removed: set[str] = field(default_factory=set[str])

    def search(self, request: JsonObject) -> JsonObject:
        self.requests.append(request)
        self.built.append(0)
        names = [name for name in self._requested_ids(request) if name not in self.removed]
        hits = [self._hit(name, request) for name in names[: request["size"]]]
        return {"hits": {"hits": hits}}

    def page(self, **body: Any) -> list[JsonObject]:
        plan = plan_search(SearchBody.model_validate(body), VISIBLE)
        request = to_opensearch(plan)
        hits = self.search(request)["hits"]["hits"]
        return with_sources(hits, request, self.search, plan.highlight)

    def _requested_ids(self, request: JsonObject) -> list[str]:
        conditions = request["query"]["bool"]["filter"]
        assert VISIBLE in conditions
        named = [condition["ids"]["values"] for condition in conditions if "ids" in condition]
        return named[0] if named else list(self.sizes)

    def _hit(self, name: str, request: JsonObject) -> JsonObject:
        hit: JsonObject = {"_index": "assets-1", "_id": name}
        size = self.sizes[name]
        if "script_fields" not in request:
            return {**hit, "_source": self._source(name), **self._highlight(request)}
        params = request["script_fields"]["source"]["script"]["params"]
        source = None
        if size is None or size > params["most"]:
            date = "2026-03-01T12:00:00.000Z"
            source = {"str_assetid.keyword": [name], "date_lastmodified": [date]}
            source["list_tags.keyword"] = ["a", "b"]
        elif size <= params["share"]:
            source = self._source(name)
        sizes = {} if size is None else {"source_bytes": [size]}
        return {**hit, "fields": {**sizes, "source": [source]}, **self._highlight(request)}

    def _highlight(self, request: JsonObject) -> JsonObject:
        return {"highlight": {"str_assetname": ["<em>x</em>"]}} if "highlight" in request else {}

    def _source(self, name: str) -> JsonObject:
        self.built[-1] += self.sizes[name] or 0
        return {"str_assetid": name, "MD_": {"k": "v"}, "rev": 7}


def documents(count: int, size: int | None) -> Documents:
    return Documents({f"a{number}": size for number in range(count)})


def ids(hits: list[JsonObject]) -> list[str]:
    return [hit["_source"]["str_assetid"] for hit in hits]


@pytest.mark.parametrize(
    ("count", "size", "requests"),
    [(100, 2000, 1), (2000, 2500, 1), (10, DOCUMENT_BYTES, 1), (100, 0, 1)],
)
def test_a_page_of_small_documents_takes_one_request(count: int, size: int, requests: int) -> None:
    sizes = documents(count, size)
    assert ids(sizes.page(size=count)) == list(sizes.sizes)
    assert len(sizes.requests) == requests


def test_a_few_larger_documents_take_one_more_request() -> None:
    sizes = documents(100, 2000)
    sizes.sizes["a7"] = sizes.sizes["a50"] = DOCUMENT_BYTES
    hits = sizes.page(size=100)
    assert ids(hits) == list(sizes.sizes)
    assert sizes.built == [98 * 2000, 2 * DOCUMENT_BYTES]
    assert not any("metadataCut" in hit for hit in hits)


@pytest.mark.parametrize("size", [DOCUMENT_BYTES + 1, 10_000_000, None])
def test_of_documents_over_the_budget_no_source_is_built(size: int | None) -> None:
    sizes = documents(500, size)
    hits = sizes.page(size=500, query="pump")
    assert ids(hits) == list(sizes.sizes)
    assert sizes.built == [0]
    assert all(hit["metadataCut"] is True for hit in hits)
    assert hits[0]["_source"]["date_lastmodified"] == "2026-03-01T12:00:00+00:00"
    assert hits[0]["_source"]["list_tags"] == ["a", "b"]
    assert "fields" not in hits[0]


def test_what_no_reply_holds_is_refused_before_it_is_built() -> None:
    sizes = documents(100, DOCUMENT_BYTES)
    with pytest.raises(TooLargeError, match=r"size: results in a reply of 10000000 bytes"):
        sizes.page(size=100)
    assert sizes.built == [0]


@pytest.mark.parametrize("size", [1, 59, 100, 160, 1999, 2000])
def test_no_request_makes_more_than_a_page(size: int) -> None:
    for length in (PAGE_BYTES // size, DOCUMENT_BYTES, DOCUMENT_BYTES // 3):
        sizes = documents(size, length)
        if size * length <= PAGE_BYTES:
            sizes.page(size=size)
        else:
            with pytest.raises(TooLargeError):
                sizes.page(size=size)
        assert max(sizes.built) <= PAGE_BYTES
    assert PAGE_BYTES >= MAX_REPLY_BYTES


def test_a_document_that_was_deleted_since_it_was_found_is_left_out() -> None:
    sizes = documents(3, DOCUMENT_BYTES)
    request = to_opensearch(plan_search(SearchBody(size=100), VISIBLE))
    hits = sizes.search(request)["hits"]["hits"]
    sizes.removed = {"a1"}
    assert ids(with_sources(hits, request, sizes.search)) == ["a0", "a2"]


def test_fields_of_a_write_are_not_shown() -> None:
    (hit,) = documents(1, 10).page()
    assert hit["_source"] == {"str_assetid": "a0", "MD_": {"k": "v"}}
    assert "rev" in json.dumps(
        documents(1, 10).search(to_opensearch(plan_search(SearchBody(), VISIBLE)))
    )


@pytest.mark.parametrize(("size", "requests"), [(MARKED_AT_ONCE, 1), (MARKED_AT_ONCE + 1, 2)])
def test_words_of_long_pages_are_marked_in_documents_of_known_size(
    size: int, requests: int
) -> None:
    sizes = documents(size, 2000)
    sizes.sizes["a3"] = DOCUMENT_BYTES + 1
    hits = sizes.page(size=size, query="pump")
    assert len(sizes.requests) == requests
    unmarked = [hit["_id"] for hit in hits if "highlight" not in hit]
    assert unmarked == ([] if requests == 1 else ["a3"])
    assert max(sizes.built) == (size - 1) * 2000
    plain = documents(size, 2000)
    plain.page(size=size, query="pump", includeHighlights=False)
    assert len(plain.requests) == 1
