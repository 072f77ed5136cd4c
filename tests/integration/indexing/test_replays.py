"""Poison, abandoned batches, and dead letters, on real engines."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.aws.dead_letters import SqsDeadLetters
from backend.aws.guarded_objects import S3GuardedObjects
from backend.aws.settings import Settings
from backend.core.errors import UnavailableError
from backend.core.paging import PageRequest
from backend.search.indexing.changes import object_changes
from backend.search.indexing.consumers import QueueConsumer
from backend.search.maintenance.failure_entries import FailureEntries
from backend.search.maintenance.replay import LeftoverReplays, Replayer
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.queues import OBJECT_EVENTS
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA
from local.plan import StreamMapping
from local.pumps.failures import FailedBatch, describe, object_key
from tests.factories.failures import replayer_of
from tests.factories.search import NOON, object_message, store_asset, store_metadata
from tests.integration.indexing.conftest import World

PATIENCE_SECONDS = 120
ARN = "arn:aws:lambda:us-east-1:123456789012:function:vitrine-local-indexing-IndexChanges-0A1B2C"
MAPPING = StreamMapping(
    id="2d1bcf5e-6d6c-4f0b-9a3e-51c0a3f7a001",
    function=ARN,
    batch_size=500,
    window=1,
    filters=(),
    reports_failures=True,
    stream_arn="arn:aws:dynamodb:us-east-1:123456789012:table/t/stream/s",
    from_start=True,
    bisects=True,
    maximum_retries=None,
    maximum_age=86_400,
    on_failure="arn:aws:s3:::failures",
)


@pytest.fixture
def entries(world: World) -> FailureEntries:
    objects = world.deployment.objects
    bucket = world.deployment.settings.bucket(FAILURE_BUCKET)
    return FailureEntries(objects, S3GuardedObjects(objects.client), bucket)


@pytest.fixture
def replayer(world: World, entries: FailureEntries) -> Replayer:
    deployment = world.deployment
    return replayer_of(
        world.rebuilder, world.tables, deployment.objects, deployment.queues, entries=entries
    )


def nested_documents(world: World, limit: int) -> None:
    """Number of nested documents that OpenSearch accepts; with more it replies 400."""
    world.deployment.engine.client.indices.put_settings(
        index=world.pointer.assets_read,
        body={"index.mapping.nested_objects.limit": limit},
    )


def store_failed_batch(world: World, records: list[Any], entries: FailureEntries) -> str:
    """Write a batch to the failure bucket as the local runtime and AWS do."""
    plain = json.loads(json.dumps(records, default=lambda value: value.timestamp()))
    batch = FailedBatch("shardId-00000001", plain, "RecordAgeExceeded", 9, None)
    now = datetime.now(UTC)
    document = describe(MAPPING, ARN, batch, now)
    body = {**document, "payload": json.dumps({"Records": plain})}
    key = object_key(MAPPING, batch, now)
    world.deployment.objects.put(
        entries.bucket, key, json.dumps(body).encode(), content_type="text/plain", metadata={}
    )
    return key


def test_poison_is_alone_in_waiting_and_is_replayed_when_its_cause_is_removed(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    nested_documents(world, 2)
    for asset_id in ("pump", "gear"):
        store_asset(world.tables, asset_id)
    for number in range(3):
        store_metadata(world.tables, f"key-{number}", "brass")
    store_metadata(world.tables, "key", "steel", asset_id="gear")
    records = [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)]
    assert world.stream(records) == {"batchItemFailures": []}
    documents = world.found()
    assert documents["museum:gear"]["MD_"] == {"key": "steel"}
    assert documents["museum:pump"]["str_assetname"] == "The pump"
    assert "MD_" not in documents["museum:pump"]
    (kept,) = entries.page(PageRequest(10)).items
    assert "nested documents" in (kept.reason or "")
    assert replayer.replay(kept.key).outcome == "failed"
    assert set(world.found({"match": {"str_assetname": "pump"}})) == {"museum:pump"}
    nested_documents(world, 10_000)
    assert replayer.replay(kept.key).outcome == "replayed"
    assert len(world.found()["museum:pump"]["MD_"]) == 3
    assert entries.page(PageRequest(10)).items == ()


def test_a_batch_that_a_stream_gave_up_is_replayed_by_the_schedule(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    store_asset(world.tables)
    store_metadata(world.tables, "material", "brass")
    records = [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)]
    key = store_failed_batch(world, records, entries)
    (listed,) = entries.batches(PageRequest(10)).items
    assert (listed.key, listed.consumer) == (key, "IndexChanges")
    assert world.found() == {}
    run = LeftoverReplays(entries, replayer, lambda: NOON).run
    assert run(until=NOON + timedelta(minutes=1)) == {"replayed": 1}
    assert world.found()["museum:pump"]["MD_"] == {"material": "brass"}
    assert run(until=NOON + timedelta(minutes=1)) == {}


def test_a_batch_with_poison_leaves_only_the_poison(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    nested_documents(world, 0)
    for asset_id in ("pump", "gear"):
        store_asset(world.tables, asset_id)
    store_metadata(world.tables, "material", "brass")
    key = store_failed_batch(
        world, [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)], entries
    )
    assert replayer.replay(key).outcome == "replayed"
    (left,) = entries.page(PageRequest(10)).items
    assert (left.kind, left.consumer) == ("poison", "IndexChanges")
    assert (left.name or "").endswith("museum:pump")
    assert set(world.found()) == {"museum:pump", "museum:gear"}


def test_an_outage_during_a_replay_loses_nothing(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    store_asset(world.tables)
    key = store_failed_batch(world, world.changes(ASSETS), entries)
    client = world.deployment.engine.client
    client.indices.put_settings(index=world.pointer.assets_read, body={"index.blocks.write": True})
    object.__setattr__(world.rebuilder.writer, "patience", 0.5)
    with pytest.raises(UnavailableError):
        replayer.replay(key)
    (left,) = entries.page(PageRequest(10)).items
    assert (left.key, left.replays.attempts) == (key, 0)
    client.indices.put_settings(index=world.pointer.assets_read, body={"index.blocks.write": None})
    assert replayer.replay(key).outcome == "replayed"
    assert set(world.found()) == {"museum:pump"}


def dead_letters_of(world: World) -> tuple[SqsDeadLetters, str]:
    """Queues with a dead-letter queue to which a message goes after a single delivery."""
    sqs, name = world.deployment.sqs, world.deployment.name
    dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
    policy = {
        "deadLetterTargetArn": attributes.get("Attributes", {}).get("QueueArn"),
        "maxReceiveCount": 1,
    }
    url = sqs.create_queue(
        QueueName=f"{name}-live",
        Attributes={"RedrivePolicy": json.dumps(policy), "VisibilityTimeout": "0"},
    )["QueueUrl"]
    environment = {"QUEUE_ObjectEvents": url}
    return SqsDeadLetters(sqs, Settings(environment)), url


def until_there_are(world: World, dead_letters: SqsDeadLetters, count: int, url: str) -> None:
    """Receive until this many messages are dead: SQS moves them at the next receive."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while dead_letters.depth(OBJECT_EVENTS).dead_letters != count:
        world.deployment.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_dead_letters_are_moved_back_and_processed(world: World) -> None:
    sqs = world.deployment.sqs
    dead_letters, url = dead_letters_of(world)
    store_asset(world.tables)
    world.put("pump/a.glb")
    bodies = [object_message(world.bucket, "pump/a.glb")["body"], "no JSON"]
    for body in bodies:
        sqs.send_message(QueueUrl=url, MessageBody=body)
    until_there_are(world, dead_letters, 2, url)
    assert dead_letters.last_redrive(OBJECT_EVENTS) is None
    dead_letters.redrive(OBJECT_EVENTS)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while dead_letters.depth(OBJECT_EVENTS).waiting != 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    last = dead_letters.last_redrive(OBJECT_EVENTS)
    assert last is not None
    assert (last.state, last.moved) == ("COMPLETED", 2)
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    messages = [
        {"messageId": message.get("MessageId"), "body": message.get("Body")} for message in received
    ]
    consumer = QueueConsumer(
        OBJECT_EVENTS,
        world.deployment.queues,
        world.rebuilder,
        world.rebuilder.failures,
        object_changes,
        count_metric=lambda metric: pytest.fail(metric.name),
    )
    assert consumer.consume({"Records": messages}) == {"batchItemFailures": []}
    assert set(world.found()) == {"museum:pump:pump/a.glb"}
    assert len(world.failures()) == 1


def test_an_empty_dead_letter_queue_is_no_trouble(world: World) -> None:
    dead_letters, _ = dead_letters_of(world)
    depth = dead_letters.depth(OBJECT_EVENTS)
    assert (depth.waiting, depth.in_flight, depth.delayed, depth.dead_letters) == (0, 0, 0, 0)
    dead_letters.redrive(OBJECT_EVENTS)
    dead_letters.redrive(OBJECT_EVENTS)
    assert dead_letters.depth(OBJECT_EVENTS).waiting == 0
