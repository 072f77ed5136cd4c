"""Events of buckets and schedules after outages and restarts."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from pydantic import JsonValue

from local.clients import Clients
from local.plan import Object, Rule
from local.pumps import objects
from local.pumps.activity import Activity
from local.pumps.bus import Bus
from local.pumps.journal import Journal
from local.pumps.objects import ObjectPump
from local.pumps.schedules import SchedulePump

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

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
def s3() -> "S3Client":
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return client


def pump_of(s3: "S3Client", events: Events, journal: Journal) -> ObjectPump:
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
    s3: "S3Client", events: Events, journal: Journal
) -> None:
    pump = pump_of(s3, events, journal)
    version = s3.put_object(Bucket=BUCKET, Key="a", Body=b"1")["VersionId"]
    assert asyncio.run(pump.compare()) == 1
    s3.delete_object(Bucket=BUCKET, Key="a", VersionId=version)
    assert [asyncio.run(pump.compare()) for _ in range(2)] == [1, 0]
    kinds = [events.sent.get_nowait()["detail-type"] for _ in range(events.sent.qsize())]
    assert kinds == ["Object Created", "Object Deleted"]


def test_what_a_hint_named_during_an_outage_is_found_when_it_ends(
    s3: "S3Client", events: Events, journal: Journal, monkeypatch: pytest.MonkeyPatch
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
