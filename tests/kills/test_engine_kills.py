"""kill -9 of engines under load, engines that are away, and kill -9 of the whole runtime.

Afterwards the index is correct, without any intervention. One runtime serves all tests of this
file: starts would take most of the time.

Engines are killed one after the other under one load, before the earlier ones are back. Two have
their own load. DynamoDB Local, killed itself, may have lost a transaction to which it replied some
milliseconds before. (The service on AWS has no such gap.) All other acknowledged writes are stored
afterwards. Then the index is compared with the tables as they are. The engine of executions keeps
them in memory: uploads are processed, and each execution that it loses ends as failed.

It takes over 20 seconds: the runtime starts twice, and engines start again.
"""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.journeys.replaying import Load, abandon_batch, let_schedules_be_due, load, stored
from tests.journeys.runtime import (
    START_SECONDS,
    Api,
    Runtime,
    kill_with_children,
    noise,
    wait_until,
)
from tests.journeys.test_executions import executions, have_ended
from tests.journeys.test_facts import attributes
from tests.kills.right_again import (
    RIGHT_AGAIN_SECONDS,
    TRUTHFUL_ENDS,
    becomes_right,
    lost,
)

SECONDS_UNDER_LOAD = float(os.environ.get("LOAD_SECONDS", "2"))
ROUNDS = int(os.environ.get("KILL_ROUNDS", "1"))
DURABLE = ("opensearch", "queues", "s3", "aws")
CHECK = "/admin/search/consistency"
CUBES = 12
CUBE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A runtime with its tables on disk."""
    runtime = Runtime(tmp_path_factory.mktemp("killed") / "state")
    runtime.up()
    yield runtime
    runtime.down()


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("engines", [DURABLE, ("states",), ("dynamodb",)], ids="-".join)
def test_engines_that_are_killed_under_load_leave_no_drift(
    on_disk: Runtime, engines: tuple[str, ...], round_: int
) -> None:
    api = on_disk.client()
    name = f"killed-{engines[0]}-{round_}"
    database = api.new_database(name, processing="states" in engines)
    with load(on_disk, database) as written:
        for engine in engines:
            _wait_for_writes(written)
            _kill(on_disk, engine)
        time.sleep(SECONDS_UNDER_LOAD)
    assert written.wrong == []
    _is_back(on_disk)
    if "states" in engines:
        _executions_end(api, database, written)
    becomes_right(on_disk, database)
    if "dynamodb" not in engines:  # see the module
        assert lost(written, stored(api, database)) == []


def _wait_for_writes(written: Load) -> None:
    """More writes are acknowledged, also on a slow machine."""
    before = len(written.acknowledged)
    time.sleep(SECONDS_UNDER_LOAD)
    wait_until(lambda: len(written.acknowledged) >= before + 3)


def _kill(runtime: Runtime, engine: str) -> None:
    """Kill the engine's process without informing the runner."""
    pid: int = runtime.admin("GET", "/health")["engines"][engine]["pid"]
    os.kill(pid, signal.SIGKILL)


def _executions_end(api: Api, database: str, written: Load) -> None:
    """Each uploaded file is processed, or its execution failed as interrupted."""
    uploaded = [asset for asset, known in written.acknowledged.items() if "files" in known]
    paths = [f"/database/{database}/assets/{asset}" for asset in uploaded]
    assert paths
    wait_until(lambda: all(have_ended(api, path, 1) for path in paths), seconds=RIGHT_AGAIN_SECONDS)
    for path in paths:
        for execution in executions(api, path):
            error = execution.get("error", {}).get("code")
            assert (execution["executionStatus"], error) in TRUTHFUL_ENDS, execution


def _is_back(runtime: Runtime) -> None:
    """The engines respond again: time is measured from here, without their start."""

    def is_back() -> bool:
        engines: dict[str, Any] = runtime.admin("GET", "/health")["engines"]
        return all(engine["healthy"] for engine in engines.values())

    wait_until(is_back, seconds=START_SECONDS)


def test_search_is_unavailable_and_catches_up_when_opensearch_is_back(on_disk: Runtime) -> None:
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
    assert {hit["str_assetid"] for hit in api.search(query="outage")} == {before, during}
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


def test_interrupted_inspections_and_overdue_schedules_are_made_up_for(on_disk: Runtime) -> None:
    """The runtime is killed during inspections, and starts days later."""
    api = on_disk.client()
    api.new_database("forge", processing=True)
    asset = api.new_asset("forge", "Cubes")
    base = f"/database/forge/assets/{asset}"
    paths = [f"/{number:02}.obj" for number in range(CUBES)]
    api.upload("forge", asset, {path: [b"# " + path.encode() + b"\n" + CUBE] for path in paths})
    wait_until(lambda: any(run["executionStatus"] == "RUNNING" for run in _runs(api, base)))
    abandon_batch(on_disk, "forge", asset)
    assert api.ok("GET", CHECK).get("report") is None
    kill_with_children(int(on_disk.endpoint["pid"]))
    let_schedules_be_due(on_disk)
    on_disk.up()
    api = on_disk.client()

    def have_facts() -> bool:
        triangles = [attributes(api, base, path).get("fact_triangles") for path in paths]
        return triangles == ["1"] * CUBES

    wait_until(have_facts, seconds=240)
    errors = [
        api.ok("GET", f"{base}/executions/{run['executionId']}")["message"]["error"]["code"]
        for run in _runs(api, base)
        if run["executionStatus"] == "FAILED"
    ]
    assert errors, "the kill interrupted no inspection"
    assert set(errors) == {"Interrupted"}
    wait_until(lambda: api.ok("GET", "/admin/failures")["Items"] == [])
    wait_until(lambda: api.ok("GET", CHECK).get("report") is not None)


def _runs(api: Api, base: str) -> list[dict[str, Any]]:
    reply = api.ok("GET", f"{base}/workflows/executions", params={"pageSize": "100"})
    return reply["message"]["Items"]
