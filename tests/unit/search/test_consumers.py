"""The consumers: what is acknowledged, what comes again, and fan-outs."""

import json
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.search.changes import FanOut, object_changes, settle_changes
from backend.search.consumers import FanOutConsumer, QueueConsumer, StreamConsumer
from backend.search.fan_out import FanOuts, FanOutWorker, job_id
from backend.search.owners import BucketRegistry
from backend.search.rebuild import Rebuilder
from backend.spec.queues import FAN_OUT, OBJECT_EVENTS, SETTLE
from backend.spec.tables.operations import JOBS
from tests.factories.search import NOON, object_message, store_asset, stream_record
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine

ASSET_KEY = {"databaseId": "museum", "assetId": "pump"}
RENAMED = {"inheritedRevision": {"N": "2"}}


@pytest.fixture
def streams(indexing: Rebuilder, tables: DynamoTables, sent: MemoryQueues) -> StreamConsumer:
    fan_outs = FanOuts(tables, sent, lambda: NOON)
    return StreamConsumer(indexing, indexing.failures, fan_outs)


@pytest.fixture
def fan_outs(
    indexing: Rebuilder, tables: DynamoTables, objects: S3Objects, sent: MemoryQueues
) -> FanOutConsumer:
    worker = FanOutWorker(tables, objects, BucketRegistry(tables), sent, indexing, lambda: NOON)
    return FanOutConsumer(FAN_OUT, sent, worker, indexing.failures)


def fill(objects: S3Objects, count: int) -> None:
    for number in range(count):
        objects.put(
            "assetbucket", f"pump/{number:04}.glb", b"x", content_type="text/plain", metadata={}
        )


def delivered(bodies: list[Any]) -> dict[str, Any]:
    records = [{"messageId": str(n), "body": json.dumps(body)} for n, body in enumerate(bodies)]
    return {"Records": records}


def kept(objects: S3Objects) -> int:
    return len(objects.list_objects("failurebucket", "Test/2026-03-01/").objects)


def test_a_batch_with_a_poison_record_is_acknowledged_and_the_record_is_kept(
    streams: StreamConsumer, tables: DynamoTables, objects: S3Objects, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    event = {"Records": [stream_record({"odd": "x"}), stream_record(ASSET_KEY, {})]}
    assert streams.consume(event) == {"batchItemFailures": []}
    assert streams.consume(event) == {"batchItemFailures": []}
    assert set(engine.live()) == {"museum:pump"}
    assert kept(objects) == 1


def test_an_outage_fails_the_whole_batch_of_a_stream(
    streams: StreamConsumer, tables: DynamoTables, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    engine.indexes.clear()
    with pytest.raises(UnavailableError):
        streams.consume({"Records": [stream_record(ASSET_KEY, {})]})


def test_an_outage_gives_all_messages_of_a_queue_back(
    indexing: Rebuilder,
    tables: DynamoTables,
    objects: S3Objects,
    engine: MemorySearchEngine,
    sent: MemoryQueues,
) -> None:
    store_asset(tables)
    consumer = QueueConsumer(OBJECT_EVENTS, sent, indexing, indexing.failures, object_changes)
    counts = {"a": 1, "b": 3}
    messages = [
        object_message("assetbucket", "pump/a", message_id=name)
        | {"receiptHandle": name, "attributes": {"ApproximateReceiveCount": str(count)}}
        for name, count in counts.items()
    ]
    event = {"Records": messages}
    files = engine.indexes.pop("files-1")
    failed = consumer.consume(event)["batchItemFailures"]
    assert failed == [{"itemIdentifier": "a"}, {"itemIdentifier": "b"}]
    assert sent.postponed == [("ObjectEvents", "a", 10), ("ObjectEvents", "b", 40)]
    engine.indexes["files-1"] = files
    assert consumer.consume(event) == {"batchItemFailures": []}


def test_settling_sends_no_further_message(
    indexing: Rebuilder, tables: DynamoTables, sent: MemoryQueues, streams: StreamConsumer
) -> None:
    store_asset(tables)
    streams.consume({"Records": [stream_record(ASSET_KEY, {})]})
    settle = QueueConsumer(SETTLE, sent, indexing, indexing.failures, settle_changes, settling=True)
    settle.consume(delivered(sent.take(SETTLE)))
    assert sent.sent == []


def test_an_inherited_change_reaches_every_file_page_by_page(
    streams: StreamConsumer,
    fan_outs: FanOutConsumer,
    tables: DynamoTables,
    objects: S3Objects,
    engine: MemorySearchEngine,
    sent: MemoryQueues,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backend.search.fan_out.PAGE_VERSIONS", 10)
    store_asset(tables, assetName="New name", inheritedRevision=2)
    fill(objects, 25)
    streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    messages = sent.take(FAN_OUT)
    rounds = 0
    while messages:
        rounds += 1
        assert fan_outs.consume(delivered(messages)) == {"batchItemFailures": []}
        messages = sent.take(FAN_OUT)
    files = [body for body in engine.live().values() if body["_rectype"] == "file"]
    assert len(files) == 25
    assert {body["str_assetname"] for body in files} == {"New name"}
    assert rounds == 3
    job = tables.get(JOBS, {"jobId": job_id(FanOut("museum", "pump", 2))}) or {}
    assert (job["state"], job["filesDone"]) == ("done", 25)


def test_a_fan_out_is_queued_once_for_each_change(
    streams: StreamConsumer, tables: DynamoTables, sent: MemoryQueues
) -> None:
    store_asset(tables)
    for _ in range(3):
        streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    assert len(sent.take(FAN_OUT)) == 1
    streams.consume({"Records": [stream_record(ASSET_KEY, {"inheritedRevision": {"N": "3"}})]})
    assert len(sent.take(FAN_OUT)) == 1


def test_a_fan_out_whose_writer_died_before_it_was_queued_is_queued_by_the_next(
    streams: StreamConsumer, tables: DynamoTables, sent: MemoryQueues
) -> None:
    store_asset(tables)

    def die(operation: str) -> None:
        raise UnavailableError("SQS does not answer")

    sent.before = die
    with pytest.raises(UnavailableError):
        streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    sent.before = lambda operation: None
    streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    assert len(sent.take(FAN_OUT)) == 1


def test_a_page_that_met_an_outage_is_given_back_and_has_queued_no_successor(
    fan_outs: FanOutConsumer,
    tables: DynamoTables,
    objects: S3Objects,
    engine: MemorySearchEngine,
    sent: MemoryQueues,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backend.search.fan_out.PAGE_VERSIONS", 2)
    store_asset(tables)
    fill(objects, 4)
    engine.indexes.pop("files-1")
    page = {"databaseId": "museum", "assetId": "pump", "inheritedRevision": 2}
    assert fan_outs.consume(delivered([page])) == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert sent.take(FAN_OUT) == []


def test_a_fan_out_of_an_asset_that_is_gone_is_done(
    fan_outs: FanOutConsumer, sent: MemoryQueues, tables: DynamoTables
) -> None:
    page = {"databaseId": "museum", "assetId": "gone", "inheritedRevision": 2}
    assert fan_outs.consume(delivered([page])) == {"batchItemFailures": []}
    assert sent.sent == []


def test_a_fan_out_message_of_another_shape_is_poison(
    fan_outs: FanOutConsumer, objects: S3Objects
) -> None:
    assert fan_outs.consume(delivered([{"assetId": 3}])) == {"batchItemFailures": []}
    assert kept(objects) == 1
