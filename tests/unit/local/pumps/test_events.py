"""Records, batches, patterns and schedules of events, and what counts as pending."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from pydantic import JsonValue

from local.clients import Clients
from local.errors import LocalError
from local.function_process import function_error
from local.plan import Object, Plan, Queue, QueueMapping, Rule, StreamMapping
from local.pumps import objects
from local.pumps.activity import Activity
from local.pumps.bus import Bus
from local.pumps.drained import Drain
from local.pumps.failures import FailedBatch, describe, object_key
from local.pumps.journal import Journal
from local.pumps.objects import ObjectPump
from local.pumps.patterns import any_of, compile_pattern
from local.pumps.records import created_at, cut, event_record, sequence_of
from local.pumps.schedules import SchedulePump, interval

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams.type_defs import RecordTypeDef
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient


def _scheduled(expression: str) -> Rule:
    return Rule("id", "arn:rule", None, expression, ())


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [("rate(1 minute)", 60), ("rate(2 hours)", 7200), ("rate(1 day)", 86400)],
)
def test_a_rate_is_a_number_of_seconds(expression: str, seconds: float) -> None:
    assert interval(_scheduled(expression)) == seconds


def test_a_schedule_that_is_no_rate_is_refused() -> None:
    with pytest.raises(LocalError, match="cron"):
        interval(_scheduled("cron(0 10 * * ? *)"))


def test_a_pattern_lets_through_what_it_names() -> None:
    matches = compile_pattern(
        '{"source": ["aws.s3"], "detail": {"object": {"key": [{"prefix": "a/"}]}}}'
    )

    assert matches({"source": "aws.s3", "detail": {"object": {"key": "a/b"}}})
    assert not matches({"source": "aws.s3", "detail": {"object": {"key": "b"}}})


@pytest.mark.parametrize("prefix", ['"temp/"', '["temp/", "trash/"]'])
def test_a_pattern_can_exclude_keys_by_their_beginning(prefix: str) -> None:
    matches = compile_pattern(f'{{"key": [{{"anything-but": {{"prefix": {prefix}}}}}]}}')

    assert not matches({"key": "temp/a"})
    assert matches({"key": "a/temp/b"})
    assert matches({"key": "temporary"})


def test_a_malformed_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="malformed"):
        compile_pattern('{"source": "aws.s3"}')


def test_without_patterns_everything_passes() -> None:
    assert any_of([])({})
    assert any_of(['{"a": [1]}', '{"a": [2]}'])({"a": 2})


@dataclass
class Pending:
    """One queue with a consumer, and what the runtime says of it."""

    sqs: SQSClient
    queue: Queue
    activity: Activity
    buckets: Buckets | None = None

    def report(self, *, search: str = "") -> object:
        mapping = QueueMapping(
            id="JobsToWorker",
            function="Worker",
            batch_size=1,
            window=0,
            filters=(),
            reports_failures=True,
            queue_arn=self.queue.arn,
            concurrency=None,
        )
        plan = Plan(queue_mappings=[mapping], queues={self.queue.arn: self.queue})
        clients = cast("Clients", SimpleNamespace(sqs=self.sqs))
        objects = cast("ObjectPump | None", self.buckets)
        drain = Drain(plan, clients, self.activity, streams=(), objects=objects, search=search)
        return asyncio.run(drain.report())

    def send(self, *, delay: int = 0) -> None:
        self.sqs.send_message(QueueUrl=self.queue.url, MessageBody="{}", DelaySeconds=delay)

    def receive(self) -> str:
        (message,) = self.sqs.receive_message(QueueUrl=self.queue.url).get("Messages", [])
        return message.get("ReceiptHandle", "")


@pytest.fixture
def pending() -> Pending:
    sqs = boto3.client("sqs", region_name="us-east-1")
    url = sqs.create_queue(QueueName="Jobs")["QueueUrl"]
    return Pending(sqs, Queue("Jobs", "arn:aws:sqs:::Jobs", url, {}, None), Activity())


WAITING = {"drained": False, "queues": {"Jobs": 1}}


def test_a_job_that_waits_is_running_or_was_returned_is_pending(pending: Pending) -> None:
    assert pending.report() == {"drained": True}
    pending.send(delay=600)
    assert pending.report() == WAITING
    pending.sqs.purge_queue(QueueUrl=pending.queue.url)
    pending.send()
    assert pending.report() == WAITING
    receipt = pending.receive()
    assert pending.report() == WAITING
    pending.sqs.change_message_visibility(
        QueueUrl=pending.queue.url, ReceiptHandle=receipt, VisibilityTimeout=300
    )
    assert pending.report() == WAITING
    pending.sqs.delete_message(QueueUrl=pending.queue.url, ReceiptHandle=receipt)
    assert pending.report() == {"drained": True}


def test_work_in_progress_is_pending(pending: Pending) -> None:
    with pending.activity.working():
        assert pending.report() == {"drained": False, "running": 1}
    assert pending.report() == {"drained": True}


@dataclass
class Buckets:
    """Buckets that are looked through in some time."""

    seconds: float
    meanwhile: Activity | None = None
    is_looking: bool = False

    async def compare(self) -> int:
        if self.meanwhile is not None:
            with self.meanwhile.working():
                pass
        await asyncio.sleep(self.seconds)
        return 0


def test_a_long_look_at_the_buckets_is_waited_for(pending: Pending) -> None:
    pending.buckets = Buckets(seconds=1.2)
    assert pending.report() == {"drained": True}


def test_a_look_at_the_buckets_is_not_waited_for_during_activity(pending: Pending) -> None:
    pending.buckets = Buckets(seconds=3600, meanwhile=pending.activity)
    assert pending.report() == {"drained": False, "objects": True}


def test_indexed_documents_are_visible_to_searches_before_all_is_drained(pending: Pending) -> None:
    requests = list[str]()

    class Engine(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.path)
            self.send_response(200 if len(requests) > 1 else 503)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Engine) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        pending.send()
        assert (pending.report(search=address), requests) == (WAITING, [])
        pending.sqs.purge_queue(QueueUrl=pending.queue.url)
        refused = pending.report(search=address)
        assert isinstance(refused, dict)
        assert (refused["drained"], "503" in refused["unavailable"]) == (False, True)
        assert pending.report(search=address) == {"drained": True}
        server.shutdown()
    assert requests == ["/_refresh", "/_refresh"]


_WHEN = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def _record(sequence: str = "000001", size: int = 10, **image: object) -> Object:
    record = cast(
        "RecordTypeDef",
        {
            "eventID": "id",
            "eventName": "INSERT",
            "dynamodb": {
                "ApproximateCreationDateTime": _WHEN,
                "Keys": {"id": {"S": "k"}},
                "NewImage": image,
                "SequenceNumber": sequence,
                "SizeBytes": size,
                "StreamViewType": "NEW_IMAGE",
            },
            "userIdentity": {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"},
        },
    )
    return event_record(record, "arn:stream")


def test_binary_values_are_base64_wherever_they_are() -> None:
    record = _record(b={"B": b"\x00"}, bs={"BS": [b"\x01"]}, m={"M": {"x": {"B": b"\xff"}}})

    changed = cast("dict[str, dict[str, object]]", record["dynamodb"])
    assert changed["NewImage"] == {
        "b": {"B": "AA=="},
        "bs": {"BS": ["AQ=="]},
        "m": {"M": {"x": {"B": "/w=="}}},
    }


def test_the_envelope_is_lambdas() -> None:
    record = _record()

    assert record["eventSource"] == "aws:dynamodb"
    assert record["eventSourceARN"] == "arn:stream"
    assert record["userIdentity"] == {
        "type": "Service",
        "principalId": "dynamodb.amazonaws.com",
    }
    assert sequence_of(record) == "000001"
    assert created_at(record) == _WHEN.timestamp()


def test_large_batches_are_cut_to_what_an_event_may_have() -> None:
    records = [_record(str(n), 400_000, text={"S": "ä" * 200_000}) for n in range(40)]

    parts = list(cut(records))

    assert [record for part in parts for record in part] == records
    assert max(len(part) for part in parts) <= 14
    assert len(parts) == 3


def test_an_abandoned_batch_is_described_as_aws_does() -> None:
    mapping = StreamMapping(
        id="mapping",
        function="f",
        batch_size=1,
        window=0,
        filters=(),
        reports_failures=True,
        stream_arn="arn:stream",
        from_start=True,
        bisects=True,
        maximum_retries=1,
        maximum_age=None,
        on_failure="arn:aws:s3:::failures",
    )
    batch = FailedBatch(
        "shard", [_record("1"), _record("2")], "RetryAttemptsExhausted", 2, function_error("E", "m")
    )

    document = describe(mapping, "arn:function", batch, _WHEN)

    assert document["timestamp"] == "2026-01-02T03:04:05.678Z"
    assert document["responseContext"] == {
        "statusCode": 200,
        "executedVersion": "$LATEST",
        "functionError": "Unhandled",
    }
    info = cast("dict[str, object]", document["DDBStreamBatchInfo"])
    assert (info["startSequenceNumber"], info["endSequenceNumber"]) == ("1", "2")
    assert info["batchSize"] == 2
    assert re.fullmatch(
        r"aws/lambda/mapping/shard/2026/01/02/2026-01-02T03\.04\.05-[0-9a-f-]{36}",
        object_key(mapping, batch, _WHEN),
    )


BUCKET = "objects"
SECONDS = 10.0  # on a busy machine


class Events:
    """The bus, as a queue."""

    def __init__(self) -> None:
        self.sent = asyncio.Queue[Object]()

    async def publish(self, event: Object) -> None:
        self.sent.put_nowait(event)

    async def trigger(self, _rule: Rule, event: Object) -> None:
        self.sent.put_nowait(event)

    async def next_event(self) -> Object:
        return await asyncio.wait_for(self.sent.get(), SECONDS)


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "pumps.sqlite")


@pytest.fixture
def s3() -> S3Client:
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return client


def pump_of(s3: S3Client, events: Events, journal: Journal) -> ObjectPump:
    clients = cast("Clients", SimpleNamespace(s3=s3))
    bus = cast("Bus", events)
    return ObjectPump([BUCKET], clients=clients, bus=bus, journal=journal, activity=Activity())


@asynccontextmanager
async def running(pump: ObjectPump | SchedulePump) -> AsyncGenerator[None]:
    task = asyncio.create_task(pump.run())
    try:
        yield
    finally:
        task.cancel()


def test_the_event_of_a_deleted_version_is_sent_once(
    s3: S3Client, events: Events, journal: Journal
) -> None:
    pump = pump_of(s3, events, journal)
    version = s3.put_object(Bucket=BUCKET, Key="a", Body=b"1")["VersionId"]
    assert asyncio.run(pump.compare()) == 1
    s3.delete_object(Bucket=BUCKET, Key="a", VersionId=version)
    assert [asyncio.run(pump.compare()) for _ in range(2)] == [1, 0]
    kinds = [events.sent.get_nowait()["detail-type"] for _ in range(events.sent.qsize())]
    assert kinds == ["Object Created", "Object Deleted"]


def test_what_a_hint_named_during_an_outage_is_found_when_it_ends(
    s3: S3Client, events: Events, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pause(_: int) -> float:
        return 0.0

    monkeypatch.setattr(objects, "pause_while_away", pause)
    pump = pump_of(s3, events, journal)
    s3.put_object(Bucket=BUCKET, Key="first", Body=b"1")

    async def scenario() -> None:
        async with running(pump):
            await events.next_event()
            s3.put_object(Bucket=BUCKET, Key="second", Body=b"1")
            get_paginator = s3.get_paginator

            def fail_once(_: str) -> object:
                monkeypatch.setattr(s3, "get_paginator", get_paginator)
                raise EndpointConnectionError(endpoint_url="http://127.0.0.1")

            monkeypatch.setattr(s3, "get_paginator", fail_once)
            place: JsonValue = {"bucket": {"name": BUCKET}, "object": {"key": "second"}}
            pump.hint({"Records": [{"s3": place}]})
            await events.next_event()

    asyncio.run(scenario())


def test_a_schedule_that_was_due_while_nothing_ran_is_made_up_for(
    events: Events, journal: Journal
) -> None:
    rule = Rule(
        id="checks",
        arn="arn:aws:events:::rule/checks",
        pattern="",
        schedule="rate(1 hour)",
        targets=(),
    )
    journal.ran(rule.id, time.time() - 7200)
    pump = SchedulePump(rule, bus=cast("Bus", events), journal=journal, activity=Activity())

    async def scenario() -> None:
        async with running(pump):
            await events.next_event()

    asyncio.run(scenario())
    assert time.time() - cast("float", journal.last_run(rule.id)) < 60
