"""Messages of queues and records of streams: hidden, gathered, and delivered."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from botocore.exceptions import EndpointConnectionError

from local.clients import Clients
from local.function_process import InvocationResult
from local.functions import Functions
from local.plan import Plan, Queue, QueueMapping, StreamMapping
from local.pumps import queues
from local.pumps import streams as module
from local.pumps.activity import Activity
from local.pumps.drained import Drain
from local.pumps.journal import Journal
from local.pumps.queues import QueuePump
from local.pumps.streams import StreamPump

ARN = "arn:aws:sqs:us-east-1:000000000000:work"
RECEIPT = "receipt-1"
_GONE = EndpointConnectionError(endpoint_url="http://127.0.0.1/work")


@dataclass
class _Sqs:
    """One message, and what the pump requests for it."""

    undeletable: int = 0  # so many deletes are refused
    unreachable: bool = False  # from when a second message is requested
    requested: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    deleted: threading.Event = field(default_factory=threading.Event)
    hidden: threading.Event = field(default_factory=threading.Event)
    waited_for: threading.Event = field(default_factory=threading.Event)

    def receive_message(self, **query: Any) -> dict[str, Any]:
        self.requested.append(("receive", query["VisibilityTimeout"]))
        if self.of("receive")[1:]:
            self.waited_for.set()
            self.deleted.wait(0.2)
            if self.unreachable:
                raise _GONE
            return {}
        return {"Messages": [{"MessageId": "1", "ReceiptHandle": RECEIPT, "Body": "{}"}]}

    def change_message_visibility_batch(self, *, QueueUrl: str, Entries: Any) -> dict[str, Any]:  # noqa: N803
        del QueueUrl
        self.requested += [("hide", entry["VisibilityTimeout"]) for entry in Entries]
        self.hidden.set()
        if self.unreachable:
            raise _GONE
        return {}

    def delete_message_batch(self, **_: Any) -> dict[str, Any]:
        self.requested.append(("delete", None))
        if self.undeletable:
            self.undeletable -= 1
            return {"Failed": [{"Id": "0", "Code": "ReceiptHandleIsInvalid"}]}
        self.deleted.set()
        return {}

    def of(self, what: str) -> list[Any]:
        return [fact for name, fact in self.requested if name == what]


@dataclass
class _Function:
    """The function of the mapping, which waits for an event before it replies."""

    reply: InvocationResult = field(default_factory=lambda: InvocationResult(b"{}"))
    waits_for: threading.Event | None = None

    async def invoke(self, _reference: str, _event: Mapping[str, Any]) -> InvocationResult:
        if self.waits_for is not None:
            assert await asyncio.to_thread(self.waits_for.wait, 10)
        return self.reply


def _pump(
    sqs: _Sqs,
    *,
    seconds: int = 720,
    batch: int = 1,
    window: int = 0,
    activity: Activity | None = None,
    function: _Function | None = None,
) -> QueuePump:
    return QueuePump(
        QueueMapping("m", "f", batch, window, (), True, ARN, None),
        Queue("work", ARN, "http://127.0.0.1/work", {"VisibilityTimeout": str(seconds)}, None),
        clients=cast("Clients", type("_Clients", (), {"sqs": sqs})),
        functions=cast("Functions", function or _Function()),
        activity=activity or Activity(),
    )


async def _run_until(event: threading.Event, pump: QueuePump) -> None:
    running = asyncio.create_task(pump.run())
    assert await asyncio.to_thread(event.wait, 10)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def test_a_message_is_hidden_for_seconds_and_deleted() -> None:
    for declared, hidden in ((720, 20), (5, 5)):
        sqs = _Sqs()
        asyncio.run(_run_until(sqs.deleted, _pump(sqs, seconds=declared)))
        assert sqs.requested[:2] == [("receive", hidden), ("delete", None)]
        assert sqs.of("hide") == []


def test_a_message_is_hidden_for_longer_while_its_function_runs() -> None:
    sqs = _Sqs()
    function = _Function(waits_for=sqs.hidden)
    asyncio.run(_run_until(sqs.deleted, _pump(sqs, seconds=1, function=function)))
    assert [name for name, _ in sqs.requested if name != "receive"] == ["hide", "delete"]
    assert sqs.of("hide") == [1]


def test_a_message_whose_function_failed_is_hidden_for_the_timeout_of_its_queue() -> None:
    sqs = _Sqs()
    failing = _Function(InvocationResult(b"{}", error="Unhandled"))
    asyncio.run(_run_until(sqs.hidden, _pump(sqs, function=failing)))
    assert sqs.of("delete") == []
    assert 715 <= sqs.of("hide")[0] <= 720


def test_a_message_that_its_function_returned_keeps_the_pause_of_the_function() -> None:
    sqs = _Sqs()
    returning = _Function(InvocationResult(b'{"batchItemFailures": [{"itemIdentifier": "1"}]}'))
    asyncio.run(_run_until(sqs.waited_for, _pump(sqs, function=returning)))
    assert [name for name, _ in sqs.requested if name != "receive"] == []


def test_a_message_whose_function_is_stopped_is_visible_again_at_once() -> None:
    sqs = _Sqs()

    async def scenario() -> None:
        began = threading.Event()

        class _Endless(_Function):
            async def invoke(self, _reference: str, _event: Mapping[str, Any]) -> InvocationResult:
                began.set()
                await asyncio.Event().wait()
                return self.reply

        await _run_until(began, _pump(sqs, function=_Endless()))

    asyncio.run(scenario())
    assert sqs.of("hide") == [0]


def test_a_message_that_is_never_deleted_is_visible_again_at_last(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(queues, "pause_after", _shortly)
    sqs = _Sqs(undeletable=1_000_000)
    asyncio.run(_run_until(sqs.hidden, _pump(sqs)))
    assert len(sqs.of("delete")) == 6
    assert sqs.of("hide") == [0]
    assert "1 messages are not deleted" in caplog.text


def test_what_came_before_an_outage_is_delivered() -> None:
    sqs = _Sqs(unreachable=True)
    asyncio.run(_run_until(sqs.deleted, _pump(sqs, batch=10, window=60)))


def test_a_check_whether_all_is_drained_does_not_wait_for_the_window() -> None:
    async def scenario() -> None:
        sqs, activity = _Sqs(), Activity()
        pump = _pump(sqs, batch=10, window=3600, activity=activity)
        running = asyncio.create_task(pump.run())
        assert await asyncio.to_thread(sqs.waited_for.wait, 10)
        assert not await asyncio.to_thread(sqs.deleted.wait, 1)
        activity.request_delivery()
        assert await asyncio.to_thread(sqs.deleted.wait, 10)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scenario())


def test_a_stop_ends_a_pump_whose_engine_ends_with_it() -> None:
    async def scenario() -> None:
        sqs = _Sqs(unreachable=True)
        running = asyncio.create_task(_pump(sqs, batch=10, window=60).run())
        assert await asyncio.to_thread(sqs.waited_for.wait, 10)
        running.cancel()
        done, _ = await asyncio.wait({running}, timeout=5)
        assert done
        assert running.cancelled()

    asyncio.run(scenario())


def _shortly(_failures: int) -> float:
    return 0.01


STREAM = "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/s"
LONG = 3600
MAPPING = StreamMapping(
    id="TableToFunction",
    function="Consumer",
    batch_size=500,
    window=LONG,
    filters=(),
    reports_failures=True,
    stream_arn=STREAM,
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
        result = [RECORD] if ShardIterator == "TRIM_HORIZON" else []
        return {"Records": result, "NextShardIterator": "behind"}


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


def test_a_check_whether_all_is_drained_does_not_wait_for_the_window_of_a_stream(
    tmp_path: Path,
) -> None:
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
