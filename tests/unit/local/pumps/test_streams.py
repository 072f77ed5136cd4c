"""Records of a stream: gathered for the time of the mapping, unless a caller waits for them."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from local.clients import Clients
from local.function_process import InvocationResult
from local.functions import Functions
from local.plan import Plan, StreamMapping
from local.pumps import streams as module
from local.pumps.activity import Activity
from local.pumps.drained import Drain
from local.pumps.journal import Journal
from local.pumps.streams import StreamPump

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/s"
LONG = 3600
MAPPING = StreamMapping(
    id="TableToFunction",
    function="Consumer",
    batch_size=500,
    window=LONG,
    filters=(),
    reports_failures=True,
    stream_arn=ARN,
    from_start=True,
    bisects=True,
    maximum_retries=None,
    maximum_age=None,
    on_failure=None,
)
RECORD: dict[str, Any] = {"eventName": "INSERT", "dynamodb": {"SequenceNumber": "1"}}


class _Streams:
    """One shard with one record, which an iterator from the beginning finds."""

    def __init__(self) -> None:
        self.reads = 0

    exceptions = SimpleNamespace(
        TrimmedDataAccessException=KeyError, ExpiredIteratorException=KeyError
    )

    def describe_stream(self, **_: Any) -> dict[str, Any]:
        return {"StreamDescription": {"Shards": [{"ShardId": "shard"}]}}

    def get_shard_iterator(self, *, ShardIteratorType: str, **_: Any) -> dict[str, str]:  # noqa: N803
        return {"ShardIterator": ShardIteratorType}

    def get_records(self, *, ShardIterator: str, **_: Any) -> dict[str, Any]:  # noqa: N803
        self.reads += 1
        found = [RECORD] if ShardIterator == "TRIM_HORIZON" else []
        return {"Records": found, "NextShardIterator": "behind"}


class _Functions:
    """Receives batches, and signals when it has one."""

    def __init__(self) -> None:
        self.called = asyncio.Event()
        self.rest = False

    def have_been_idle_since(self, _when: float) -> bool:
        return self.rest

    async def invoke(self, _function: str, _event: object) -> InvocationResult:
        self.called.set()
        return InvocationResult(b'{"batchItemFailures": []}')


def pump_to(
    functions: _Functions, folder: Path, streams: _Streams | None = None, window: int = LONG
) -> StreamPump:
    return StreamPump(
        replace(MAPPING, window=window),
        clients=cast("Clients", SimpleNamespace(streams=streams or _Streams())),
        functions=cast("Functions", functions),
        journal=Journal(folder / "journal"),
        activity=Activity(),
        plan=Plan(),
    )


def test_a_check_whether_all_is_drained_does_not_wait_for_the_window(tmp_path: Path) -> None:
    async def scenario() -> None:
        functions = _Functions()
        pump = pump_to(functions, tmp_path)
        drain = Drain(Plan(), pump.clients, pump.activity, (pump,), None)
        running = asyncio.create_task(pump.run())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(functions.called.wait(), 1)
        lines: list[object] = [await drain.report()]
        while lines[-1] != {"drained": True}:
            await asyncio.sleep(0.1)
            lines.append(await drain.report())
        assert lines[0] == {"drained": False, "streams": ["Consumer"]}
        assert functions.called.is_set()
        running.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_a_stream_is_read_often_only_while_functions_run_or_someone_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONGEST_POLL", 0.01)
    monkeypatch.setattr(module, "_IDLE_POLL", LONG)

    async def scenario() -> None:
        functions, streams = _Functions(), _Streams()
        pump = pump_to(functions, tmp_path, streams, window=0)
        running = asyncio.create_task(pump.run())

        async def is_read(times: int) -> None:
            until = streams.reads + times
            while streams.reads < until:  # noqa: ASYNC110 - read in a thread, which sets no event
                await asyncio.sleep(0.01)

        async def rests() -> bool:
            await asyncio.sleep(0.5)  # what was asked for before comes in
            before = streams.reads
            await asyncio.sleep(0.5)
            return streams.reads == before

        await is_read(5)
        functions.rest = True
        assert await rests()
        pump.activity.request_delivery()
        await is_read(1)
        assert await rests()
        monkeypatch.setattr(module, "_IDLE_POLL", 0.1)
        await is_read(2)
        monkeypatch.setattr(module, "_IDLE_POLL", LONG)
        functions.rest = False
        await is_read(5)
        running.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 60))
