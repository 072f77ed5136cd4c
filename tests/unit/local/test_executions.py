"""Executions that the engine loses are reported as failed, once the runtime serves again."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import EndpointConnectionError

from local.pumps.activity import Activity
from local.state import StateFolder
from local.states.executions import DETAIL_TYPE, FILE, INTERRUPTED, Executions

ARN = "arn:aws:states:us-east-1:000000000000:execution:m:e-1"
RUNNING: dict[str, Any] = {
    "executionArn": ARN,
    "name": "e-1",
    "status": "RUNNING",
    "startDate": 1,
    "stopDate": None,
    "error": None,
    "cause": None,
}


class Bus:
    """Keeps events; `away` makes so many calls fail."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.away = 0

    async def publish(self, event: dict[str, Any]) -> None:
        if self.away:
            self.away -= 1
            raise EndpointConnectionError(endpoint_url="http://queues")
        self.events.append(event)

    @property
    def statuses(self) -> list[tuple[str, str | None]]:
        return [(event["detail"]["status"], event["detail"]["error"]) for event in self.events]


@pytest.fixture
def bus() -> Bus:
    return Bus()


def _executions(folder: Path, bus: Bus) -> Executions:
    return Executions(StateFolder(folder), cast("Any", bus), Activity())


async def _reported(executions: Executions, bus: Bus, count: int, folder: Path) -> None:
    """Report what was lost, until that is written down too."""
    reporting = asyncio.create_task(executions.report_lost())
    for _ in range(2_000):
        if len(bus.events) >= count and not StateFolder(folder).read(FILE, dict[str, object]()):
            break
        await asyncio.sleep(0.01)
    reporting.cancel()


def test_what_ran_when_the_runtime_was_killed_is_reported_after_the_restart(
    tmp_path: Path, bus: Bus
) -> None:
    asyncio.run(_executions(tmp_path, bus).status_changed(RUNNING))
    after = _executions(tmp_path, bus)
    assert after.working == 1  # drained only once it is reported
    asyncio.run(_reported(after, bus, 2, tmp_path))
    assert bus.statuses == [("RUNNING", None), ("FAILED", INTERRUPTED)]
    event = bus.events[-1]
    assert (event["source"], event["detail-type"]) == ("aws.states", DETAIL_TYPE)
    assert event["detail"]["stopDate"] > event["detail"]["startDate"]
    assert after.working == 0
    assert StateFolder(tmp_path).read(FILE, None) == {}


def test_what_ran_when_the_engine_ended_is_reported(tmp_path: Path, bus: Bus) -> None:
    executions = _executions(tmp_path, bus)

    async def lose() -> None:
        await executions.status_changed(RUNNING)
        executions.mark_lost()
        await _reported(executions, bus, 2, tmp_path)

    asyncio.run(lose())
    assert bus.statuses[-1] == ("FAILED", INTERRUPTED)


def test_an_execution_that_ended_is_not_reported_again(tmp_path: Path, bus: Bus) -> None:
    executions = _executions(tmp_path, bus)
    asyncio.run(executions.status_changed(RUNNING))
    asyncio.run(executions.status_changed({**RUNNING, "status": "SUCCEEDED", "stopDate": 2}))
    assert _executions(tmp_path, bus).working == 0


def test_a_lost_execution_is_reported_until_its_targets_take_it(tmp_path: Path, bus: Bus) -> None:
    asyncio.run(_executions(tmp_path, bus).status_changed(RUNNING))
    bus.away = 1
    asyncio.run(_reported(_executions(tmp_path, bus), bus, 2, tmp_path))
    assert bus.statuses[-1] == ("FAILED", INTERRUPTED)


def test_an_execution_that_waits_for_an_answer_is_no_work(tmp_path: Path, bus: Bus) -> None:
    executions = _executions(tmp_path, bus)
    asyncio.run(executions.status_changed(RUNNING))
    executions.waits(ARN, waits=True)
    assert executions.working == 0
    executions.waits(ARN, waits=False)
    assert executions.working == 1
