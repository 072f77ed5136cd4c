"""The functions of a runtime as a whole: what the pumps may know of them."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.function_process import FunctionSpec
from local.functions import THROTTLED, Functions, TenantError, idle_too_long
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
    found = [busy, last, first, second]
    assert idle_too_long(found, 100) == [first]
    assert idle_too_long(found, 160) == [first, second]
    assert idle_too_long(found, 396) == [first, second, last]
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
