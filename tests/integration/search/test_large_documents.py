"""Hits of documents of every size on a real OpenSearch: whole, or without their metadata."""

from functools import partial
from typing import Any

import pytest

from backend.core.errors import TooLargeError
from backend.core.search_engine import JsonObject
from backend.search.query.hits import DOCUMENT_BYTES, PAGE_BYTES, with_sources
from backend.search.query.models import SearchBody
from backend.search.query.plan import to_opensearch
from backend.search.query.queries import plan_search
from tests.integration.search.conftest import Library, asset

FACTS: JsonObject = {
    "str_assetname": "Pump",
    "str_description": "",
    "list_tags": ["a", "b"],
    "bool_archived": False,
    "num_filesize": 2**53,
    "date_lastmodified": "2026-03-01T12:00:00+00:00",
}


def document(name: str, size: int, **fields: Any) -> JsonObject:
    """The document of an asset of about `size` bytes."""
    text = "x" * 7000
    records = {f"k{number}": text for number in range(size // (2 * len(text)) + 1)}
    pairs = [{"key": key, "string": value} for key, value in records.items()]
    return asset(name, pairs, MD_=records, **FACTS, **fields)


def shown(library: Library, **body: Any) -> dict[str, JsonObject]:
    return {hit["_id"]: hit for hit in library.search(**body)["hits"]["hits"]}


@pytest.fixture
def mixed(library: Library) -> Library:
    """A small document, one that does not fit an equal share of a page, and a large one."""
    sizes = {"small": 1000, "middle": 90_000, "large": 2 * DOCUMENT_BYTES}
    library.put({name: document(name, size) for name, size in sizes.items()})
    return library


@pytest.mark.parametrize("more", [{}, {"after": ""}], ids=["window", "cursor"])
def test_only_a_large_document_comes_without_its_metadata(mixed: Library, more: JsonObject) -> None:
    hits = shown(mixed, size=1000, **more)
    for name in ("small", "middle"):
        whole = document(name, 90_000 if name == "middle" else 1000)
        assert hits[name]["_source"] == whole
        assert "metadataCut" not in hits[name]
    cut = asset("large", **FACTS)
    del cut["metadata"]
    assert hits["large"]["_source"] == cut
    assert hits["large"]["metadataCut"] is True


def test_words_are_marked_on_short_and_long_pages(mixed: Library) -> None:
    for size in (3, 1000):
        hits = shown(mixed, size=size, query="pump")
        marked = {name for name, hit in hits.items() if "highlight" in hit}
        assert marked == ({"small", "middle", "large"} if size == 3 else {"small", "middle"})
        assert hits["small"]["highlight"] == {"str_assetname": ["<em>Pump</em>"]}


def test_a_document_of_unknown_size_counts_as_a_large_one(library: Library) -> None:
    library.put({"old": document("old", 1000)}, with_sizes=False)
    assert shown(library)["old"]["metadataCut"] is True


def test_a_page_that_no_reply_holds_is_refused_and_a_smaller_one_continues(
    library: Library,
) -> None:
    count = PAGE_BYTES // 80_000 + 10
    library.put({f"a{n:03}": document(f"a{n:03}", 80_000) for n in range(count)})
    with pytest.raises(TooLargeError, match=r"size: results in a reply of"):
        library.search(size=count, after="")
    assert library.engine.still_open() == set()
    after = library.search(size=10, after="")["after"]
    with pytest.raises(TooLargeError):
        library.search(size=count, after=after)
    assert len(library.search(size=10, after=after)["hits"]["hits"]) == 10


def test_the_second_request_is_under_the_rules_of_the_caller(mixed: Library) -> None:
    plan = plan_search(SearchBody(size=1000), {"term": {"list_tags.keyword": "a"}})
    request = to_opensearch(plan)
    search = partial(mixed.engine.search, (mixed.pointer.assets_read,))
    heads = search(request)["hits"]["hits"]
    mixed.put({"middle": {**document("middle", 90_000), "list_tags": ["secret"]}})
    hits = with_sources(heads, request, search)
    assert {hit["_id"] for hit in hits} == {"small", "large"}
