"""The consumers: what is acknowledged, what comes again."""

import json
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.tables import Tables
from backend.search.indexing.changes import object_changes, settle_changes
from backend.search.indexing.consumers import QueueConsumer, StreamConsumer
from backend.search.indexing.fan_out import FanOuts
from backend.search.indexing.rebuild import Rebuilder
from backend.spec import keys
from backend.spec.metrics import BATCHES_GIVEN_BACK, Metric
from backend.spec.queues import OBJECT_EVENTS, SETTLE
from tests.factories.jobs import job_service
from tests.factories.search import object_message, store_asset, stream_record
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine

ASSET_KEY = {"databaseId": "museum", "assetId": "pump"}
RECORD_KEY = {"metadataKey": "k", keys.FILE.name: "museum:pump:/a.glb"}


@pytest.fixture
def streams(indexing: Rebuilder, tables: Tables) -> StreamConsumer:
    fan_outs = FanOuts(tables, job_service(tables))
    return StreamConsumer(indexing, indexing.failures, fan_outs)


def event_of(bodies: list[Any]) -> dict[str, Any]:
    records = [{"messageId": str(n), "body": json.dumps(body)} for n, body in enumerate(bodies)]
    return {"Records": records}


def kept(objects: S3Objects) -> int:
    return len(objects.list_objects("failurebucket", "Test/2026-03-01/").objects)


def test_a_batch_with_a_poison_record_is_acknowledged_and_the_record_is_kept(
    streams: StreamConsumer, tables: Tables, objects: S3Objects, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    event = {"Records": [stream_record({"odd": "x"}), stream_record(ASSET_KEY, {})]}
    assert streams.consume(event) == {"batchItemFailures": []}
    assert streams.consume(event) == {"batchItemFailures": []}
    assert set(engine.live()) == {"museum:pump"}
    assert kept(objects) == 1


def test_an_outage_fails_the_whole_batch_of_a_stream(
    streams: StreamConsumer, tables: Tables, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    engine.indexes.clear()
    with pytest.raises(UnavailableError):
        streams.consume({"Records": [stream_record(ASSET_KEY, {})]})


def test_an_outage_returns_all_messages_of_a_queue(
    indexing: Rebuilder,
    tables: Tables,
    objects: S3Objects,
    engine: MemorySearchEngine,
    sent: MemoryQueues,
) -> None:
    store_asset(tables)
    rung: list[Metric] = []
    consumer = QueueConsumer(
        OBJECT_EVENTS, sent, indexing, indexing.failures, object_changes, rung.append
    )
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
    assert sent.postponed == [("ObjectEvents", "a", 10), ("ObjectEvents", "b", 22)]
    assert rung == [BATCHES_GIVEN_BACK]
    engine.indexes["files-1"] = files
    assert consumer.consume(event) == {"batchItemFailures": []}
    assert rung == [BATCHES_GIVEN_BACK]


def test_settling_sends_no_further_message(
    indexing: Rebuilder, tables: Tables, sent: MemoryQueues, streams: StreamConsumer
) -> None:
    store_asset(tables)
    streams.consume({"Records": [stream_record(RECORD_KEY, {})]})
    rung: list[Metric] = []
    settle = QueueConsumer(SETTLE, sent, indexing, indexing.failures, settle_changes, rung.append)
    messages = sent.take(SETTLE)
    assert messages == [{"references": [["file", "museum", "pump", "/a.glb"]]}]
    settle.consume(event_of(messages))
    assert sent.sent == []
    assert not rung


@pytest.mark.parametrize("gone", [False, True])
def test_changed_metadata_settles_also_before_its_asset_is_found(
    tables: Tables, sent: MemoryQueues, streams: StreamConsumer, gone: bool
) -> None:
    if not gone:
        store_asset(tables)
    records = [stream_record(RECORD_KEY), stream_record(ASSET_KEY, {})]
    streams.consume({"Records": records})
    assert sent.take(SETTLE) == [{"references": [["file", "museum", "pump", "/a.glb"]]}]


def test_changes_of_assets_and_objects_need_not_settle(
    indexing: Rebuilder,
    tables: Tables,
    objects: S3Objects,
    sent: MemoryQueues,
    streams: StreamConsumer,
    engine: MemorySearchEngine,
) -> None:
    store_asset(tables)
    objects.put("assetbucket", "pump/a.glb", b"a", content_type="text/plain", metadata={})
    streams.consume({"Records": [stream_record(ASSET_KEY, {})]})
    rung: list[Metric] = []
    consumer = QueueConsumer(
        OBJECT_EVENTS, sent, indexing, indexing.failures, object_changes, rung.append
    )
    consumer.consume({"Records": [object_message("assetbucket", "pump/a.glb")]})
    assert set(engine.live()) == {"museum:pump", "museum:pump:pump/a.glb"}
    assert sent.sent == []
