"""Searches whose hits are the largest possible documents: they succeed within known limits."""

from typing import Any

import pytest

from tests.journeys.many_files import new_large_assets
from tests.journeys.runtime import Api, wait_until

LARGE = 6
"""Documents of 2.5 MB, of which three exceed a reply."""
REPLY_BYTES = 100_000


@pytest.fixture
def shelf(api: Api, database: str) -> dict[str, bool]:
    """Assets in the index; whether each has little metadata."""
    large = new_large_assets(api, database, LARGE)
    small = api.new_asset(database, "small bomb")
    record = {"metadataKey": "k", "metadataValue": "v", "metadataValueType": "string"}
    api.ok("POST", f"/database/{database}/assets/{small}/metadata", {"metadata": [record]})
    indexed = {"databaseId": database, "metadataKey": "k*", "size": 0}
    wait_until(lambda: total(api, "/search/simple", indexed) == LARGE + 1)
    return {**dict.fromkeys(large, False), small: True}


def total(api: Api, path: str, body: dict[str, Any]) -> int:
    return api.ok("POST", path, body)["hits"]["total"]["value"]


def searches(database: str) -> list[tuple[str, dict[str, Any]]]:
    term = {"query_string": {"query": f'str_databaseid:"{database}"'}}
    return [
        ("/search/simple", {"databaseId": database, "size": 160}),
        ("/search", {"filters": [term], "size": 160}),
        ("/search", {"filters": [term], "size": 160, "after": ""}),
        ("/search", {"filters": [term], "size": 2000, "query": "bomb"}),
    ]


def test_hits_of_large_documents_come_without_their_metadata(
    api: Api, database: str, shelf: dict[str, bool]
) -> None:
    for path, body in searches(database):
        answer = api.send("POST", path, body)
        assert (answer.status_code, answer.elapsed.total_seconds() < 20) == (200, True), path
        assert len(answer.content) < REPLY_BYTES
        hits = {hit["_source"]["str_assetid"]: hit for hit in answer.json()["hits"]["hits"]}
        assert set(hits) == set(shelf)
        for asset, is_small in shelf.items():
            source = hits[asset]["_source"]
            assert hits[asset].get("metadataCut", False) is not is_small
            assert ("MD_" in source, "metadata" in source) == (is_small, is_small)
            assert source["str_databaseid"] == database
            assert "bomb" in source["str_assetname"]


def test_no_page_is_ordered_by_more_texts_than_the_engine_holds(api: Api, database: str) -> None:
    sort = [{"field": f"metadata.key{number}"} for number in range(10)]
    status, error = api.refused("POST", "/search", {"size": 2000, "sort": sort})
    assert (status, error["errors"][0]["field"]) == (400, "sort")
    assert total(api, "/search", {"size": 400, "sort": sort}) >= 0
