"""Engines and runtimes that die: a clear answer meanwhile, nothing lost, all found afterwards."""

import httpx

from tests.journeys.runtime import (
    Api,
    Runtime,
    kill_with_children,
    noise,
    run_local,
    wait_until,
)


def test_search_is_unavailable_and_catches_up_when_opensearch_is_back(
    own_runtime: Runtime,
) -> None:
    own_runtime.up()
    api = own_runtime.client()
    api.new_database("museum")
    before = api.new_asset("museum", "Before the outage")
    own_runtime.drain()
    own_runtime.admin("POST", "/engines/opensearch/kill")
    status, body = api.refused("POST", "/search/simple", {"query": "outage"})
    assert (status, body["code"]) == (503, "Unavailable")
    during = api.new_asset("museum", "During the outage")
    api.upload("museum", during, {f"/{n}.stl": [noise(100, str(n))] for n in range(20)})
    own_runtime.admin("POST", "/engines/opensearch/start")
    own_runtime.drain()
    assert {found["str_assetid"] for found in api.search(query="outage")} == {before, during}
    assert len(api.search(databaseId="museum", entityTypes=["file"])) == 20


def test_tables_that_are_down_are_said_and_come_back(own_runtime: Runtime) -> None:
    own_runtime.up()
    api = own_runtime.client()
    api.new_database("museum")
    own_runtime.admin("POST", "/engines/dynamodb/kill")
    assert api.send("GET", "/database/museum").status_code == 503
    own_runtime.admin("POST", "/engines/dynamodb/start")
    wait_until(lambda: api.send("GET", "/database/museum").status_code == 200)
    api.new_asset("museum", "after")
    own_runtime.drain()
    assert len(api.search(query="after")) == 1


def test_a_killed_runtime_continues_where_it_was(own_runtime: Runtime) -> None:
    own_runtime.up()
    endpoint = own_runtime.endpoint
    api = own_runtime.client()
    api.new_database("museum")
    assets = [api.new_asset("museum", f"Part {number}") for number in range(5)]
    for asset in assets:
        api.upload("museum", asset, {f"/{n}.ply": [noise(50, str(n))] for n in range(8)})
    kill_with_children(endpoint["pid"])
    own_runtime.up()
    assert own_runtime.endpoint["adminApiKey"] == endpoint["adminApiKey"]
    again = own_runtime.client()
    own_runtime.drain()
    _all_are_found(again, assets, files=8)


def test_a_second_start_on_the_same_folder_is_one_clear_line(own_runtime: Runtime) -> None:
    own_runtime.up()
    again = run_local("up", "--state", str(own_runtime.state))
    assert again.returncode == 2
    assert "Traceback" not in again.stderr
    assert len(again.stderr.strip().splitlines()) == 1


def test_a_port_in_use_is_one_clear_line(runtime: Runtime, own_runtime: Runtime) -> None:
    port = httpx.URL(runtime.endpoint["api"]).port
    refused = run_local("up", "--state", str(own_runtime.state), "--port", str(port))
    assert refused.returncode == 1
    assert str(port) in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def _all_are_found(api: Api, assets: list[str], *, files: int) -> None:
    for asset in assets:
        found = api.search(assetId=asset)
        keys = [one["str_key"] for one in found if one["_rectype"] == "file"]
        assert len(keys) == len(set(keys)) == files
        assert len(found) == files + 1
