"""Processes of functions, and all functions of a runtime."""

import asyncio
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import EndpointConnectionError

from local.function_process import FunctionSpec, Worker
from local.functions import THROTTLED, Functions, TenantError, idle_too_long
from local.pumps.activity import Activity
from local.state import StateFolder
from local.states.executions import DETAIL_TYPE, FILE, INTERRUPTED, Executions
from tests.factories.function_specs import function_spec


@dataclass
class _Process:
    idle_since: float
    ready: bool = True


def test_functions_have_rested_only_since_the_last_call_ended(tmp_path: Path) -> None:
    async def scenario() -> None:
        functions = Functions(logs=tmp_path)
        functions.register(function_spec())
        before = time.monotonic()
        assert functions.have_been_idle_since(before + 1)
        call = asyncio.create_task(functions.invoke("f", {}))  # waits: there are no ports
        await asyncio.sleep(0.01)
        assert not functions.have_been_idle_since(before + 1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert not functions.have_been_idle_since(before)
        assert functions.have_been_idle_since(before + 1)

    asyncio.run(scenario())


def test_of_idle_processes_the_last_one_used_is_kept_for_longer() -> None:
    busy, first, second, last = _Process(0, ready=False), _Process(10), _Process(90), _Process(95)
    result = [busy, last, first, second]
    assert idle_too_long(result, 100) == [first]
    assert idle_too_long(result, 160) == [first, second]
    assert idle_too_long(result, 396) == [first, second, last]
    assert idle_too_long([busy], 1000) == []


def test_a_function_in_tenant_isolation_needs_a_tenant_and_others_take_none(tmp_path: Path) -> None:
    async def scenario(spec: FunctionSpec, tenant: str | None) -> str:
        functions = Functions(logs=tmp_path)
        functions.register(spec)
        with pytest.raises(TenantError) as refused:
            await functions.invoke("f", {}, tenant)
        return str(refused.value)

    isolated = function_spec(per_tenant=True)
    for tenant in (None, ""):
        assert asyncio.run(scenario(isolated, tenant)) == "the function f needs the id of a tenant"
    assert asyncio.run(scenario(function_spec(), "a")) == "the function f is in no tenant isolation"


def test_a_call_that_gets_no_process_in_time_is_throttled_and_never_runs(tmp_path: Path) -> None:
    async def scenario() -> None:
        functions = Functions(logs=tmp_path)
        functions.register(function_spec())
        result = await functions.invoke("f", {}, seconds=0.05)  # there are no ports
        assert result.error == THROTTLED
        assert result.message() == f"{THROTTLED}: no process was free for 0 seconds"
        report = functions.report()["f"]
        assert isinstance(report, dict)
        assert report["waiting"] == 0

    asyncio.run(scenario())


SPEC = function_spec()


def _worker(spec: FunctionSpec = SPEC, folder: Path = Path()) -> Worker:
    return Worker(
        spec,
        port=1,
        environment={},
        runtime=folder,
        log=folder / "log",
        policies=None,
        on_ready=lambda: None,
    )


def _running(folder: Path, program: str) -> Worker:
    """Return a worker whose process runs a program instead of AWS's runtime client."""
    (folder / "awslambdaric.py").write_text(program, encoding="utf-8")
    return _worker(replace(SPEC, code=folder), folder)


def test_a_process_that_is_to_be_ended_gets_no_call() -> None:
    async def waiting() -> tuple[bool, bool, bool]:
        worker = _worker()
        request = asyncio.create_task(worker.next_call())
        await asyncio.sleep(0)
        before = worker.ready
        worker.retire()
        request.cancel()
        return before, worker.ready, worker.coming

    assert asyncio.run(waiting()) == (True, False, False)


def test_a_process_that_is_ended_while_it_is_created_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        worker = _running(tmp_path, "import time; time.sleep(60)")
        living = asyncio.create_task(worker.run())
        await asyncio.sleep(0)
        assert worker.pid is None
        await worker.end()
        await asyncio.wait_for(living, 20)

    asyncio.run(scenario())


def test_a_signal_to_the_group_of_the_runner_does_not_reach_its_functions(tmp_path: Path) -> None:
    worker = _running(tmp_path, "import os; open('group', 'w').write(str(os.getpgrp()))")
    asyncio.run(worker.run())
    assert int((tmp_path / "group").read_text(encoding="utf-8")) != os.getpgrp()


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
