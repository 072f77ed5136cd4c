"""kill -9 of the runtime during inspections, and a start days later: all overdue work is done.

It takes about a minute: two starts of the runtime, and inspections in functions that start for it.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.journeys.replaying import abandon_batch, let_schedules_be_due
from tests.journeys.runtime import Api, Runtime, kill_with_children, wait_until
from tests.journeys.test_facts import attributes

CHECK = "/admin/search/consistency"
CUBES = 12
CUBE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def _executions(api: Api, base: str) -> list[dict[str, Any]]:
    reply = api.ok("GET", f"{base}/workflows/executions", params={"pageSize": "100"})
    return reply["message"]["Items"]


def _statuses(api: Api, base: str) -> set[str]:
    return {one["executionStatus"] for one in _executions(api, base)}


@pytest.fixture
def runtime(tmp_path: Path) -> Any:
    runtime = Runtime(tmp_path / "state")
    try:
        runtime.up()
        yield runtime
    finally:
        runtime.down()


def test_interrupted_inspections_and_overdue_schedules_are_made_up_for(runtime: Runtime) -> None:
    api = runtime.client()
    api.new_database("forge", processing=True)
    asset = api.new_asset("forge", "Cubes")
    base = f"/database/forge/assets/{asset}"
    paths = [f"/{number:02}.obj" for number in range(CUBES)]
    api.upload("forge", asset, {path: [b"# " + path.encode() + b"\n" + CUBE] for path in paths})
    wait_until(lambda: "RUNNING" in _statuses(api, base))
    abandon_batch(runtime, "forge", asset)
    assert api.ok("GET", CHECK).get("report") is None
    kill_with_children(int(runtime.endpoint["pid"]))
    let_schedules_be_due(runtime)
    runtime.up()
    api = runtime.client()

    def have_facts() -> bool:
        found = [attributes(api, base, path).get("fact_triangles") for path in paths]
        return found == ["1"] * CUBES

    wait_until(have_facts, seconds=240)
    failed = [one for one in _executions(api, base) if one["executionStatus"] == "FAILED"]
    errors = [
        api.ok("GET", f"{base}/executions/{one['executionId']}")["message"]["error"]["code"]
        for one in failed
    ]
    assert errors, "the kill interrupted no inspection"
    assert set(errors) == {"Interrupted"}
    wait_until(lambda: api.ok("GET", "/admin/failures")["Items"] == [])
    wait_until(lambda: api.ok("GET", CHECK).get("report") is not None)
