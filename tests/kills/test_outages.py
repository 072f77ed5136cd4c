"""Engines that are unavailable: a clear reply meanwhile, no loss, all data found afterwards."""

from collections.abc import Iterator

import pytest

from tests.journeys.runtime import Runtime, noise, wait_until


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A runtime with its tables on disk, whose engines end and start again."""
    running = Runtime(tmp_path_factory.mktemp("outages") / "state")
    running.up()
    yield running
    running.down()


def test_search_is_unavailable_and_catches_up_when_opensearch_is_back(
    on_disk: Runtime,
) -> None:
    api = on_disk.client()
    api.new_database("museum")
    before = api.new_asset("museum", "Before the outage")
    on_disk.drain()
    on_disk.admin("POST", "/engines/opensearch/kill")
    status, body = api.refused("POST", "/search/simple", {"query": "outage"})
    assert (status, body["code"]) == (503, "Unavailable")
    during = api.new_asset("museum", "During the outage")
    api.upload("museum", during, {f"/{n}.bin": [noise(100, str(n))] for n in range(20)})
    on_disk.admin("POST", "/engines/opensearch/start")
    on_disk.drain()
    assert {found["str_assetid"] for found in api.search(query="outage")} == {before, during}
    assert len(api.search(databaseId="museum", entityTypes=["file"])) == 20


def test_tables_that_are_down_are_reported_and_recover(on_disk: Runtime) -> None:
    api = on_disk.client()
    api.new_database("tables-down")
    on_disk.admin("POST", "/engines/dynamodb/kill")
    assert api.send("GET", "/database/tables-down").status_code == 503
    on_disk.admin("POST", "/engines/dynamodb/start")
    wait_until(lambda: api.send("GET", "/database/tables-down").status_code == 200)
    api.new_asset("tables-down", "after")
    on_disk.drain()
    assert len(api.search(query="after")) == 1
