"""The indexing path on real engines: consumers, real stream records, searches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from backend.core.search_engine import SearchEngine
from backend.core.tables import Tables
from backend.search.indexing.changes import object_changes, settle_changes
from backend.search.indexing.consumers import QueueConsumer, StreamConsumer
from backend.search.indexing.failures import count_metric
from backend.search.indexing.fan_out import FanOuts
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.state import Pointer, SearchState
from backend.spec.buckets import ASSET_BUCKET, FAILURE_BUCKET
from backend.spec.queues import OBJECT_EVENTS, SETTLE, Queue
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.tables.model import Table
from local.engines import ENGINES, Running
from tests.engines import TOOLS
from tests.factories.buckets import stored_bucket
from tests.factories.jobs import job_service
from tests.factories.search import NOON, object_message, rebuilder
from tests.integration.conftest import Deployment


@dataclass
class World:
    """The indexing path of one deployment, and functions that inspect it."""

    deployment: Deployment
    pointer: Pointer
    rebuilder: Rebuilder
    bucket: str

    @property
    def tables(self) -> Tables:
        return self.deployment.tables

    def with_ports(
        self, *, tables: Tables | None = None, engine: SearchEngine | None = None
    ) -> "World":
        """The same with another implementation of a port."""
        made = _rebuilder(self.deployment, tables or self.tables, engine or self.deployment.engine)
        return replace(self, rebuilder=made)

    def put(self, key: str, body: bytes = b"x") -> None:
        self.deployment.objects.put(self.bucket, key, body, content_type="text/plain", metadata={})

    def stream(self, records: Sequence[Any]) -> dict[str, Any]:
        """Deliver stream records as the function gets them."""
        fan_outs = FanOuts(self.tables, job_service(self.tables))
        consumer = StreamConsumer(self.rebuilder, self.rebuilder.failures, fan_outs)
        return dict(consumer.consume({"Records": records}))

    def objects_changed(self, *keys: str) -> dict[str, Any]:
        consumer = QueueConsumer(
            OBJECT_EVENTS,
            self.deployment.queues,
            self.rebuilder,
            self.rebuilder.failures,
            object_changes,
            partial(count_metric, consumer="IndexObjects"),
        )
        messages = [object_message(self.bucket, key, message_id=key) for key in keys]
        return dict(consumer.consume({"Records": messages}))

    def settle(self) -> int:
        """Deliver all settle messages in the queue; return their number."""
        consumer = QueueConsumer(
            SETTLE,
            self.deployment.queues,
            self.rebuilder,
            self.rebuilder.failures,
            settle_changes,
            partial(count_metric, consumer="IndexSettle"),
        )
        messages = self.receive_all(SETTLE)
        assert consumer.consume({"Records": messages}) == {"batchItemFailures": []}
        return len(messages)

    def receive_all(self, queue: Queue) -> list[dict[str, Any]]:
        """All messages of a queue, removed from it, as Lambda receives them."""
        url = self.deployment.settings.queue(queue)
        messages: list[dict[str, Any]] = []
        while True:
            reply = self.deployment.sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=0
            )
            for message in reply.get("Messages", []):
                self.deployment.sqs.delete_message(
                    QueueUrl=url, ReceiptHandle=message.get("ReceiptHandle", "")
                )
                messages.append(
                    {"messageId": message.get("MessageId"), "body": message.get("Body")}
                )
            if not reply.get("Messages"):
                return messages

    def changes(self, table: Table) -> list[Any]:
        """The records of a table's real stream since the last call, in order."""
        stream = self.deployment.table_set.stream(table)
        return [{**record, "eventSourceARN": stream.arn} for record in stream.take()]

    def found(self, query: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
        """Live documents that a query over both indexes finds, by id."""
        names = (self.pointer.assets_read, self.pointer.files_read)
        engine = self.deployment.engine
        engine.refresh(names)
        filters = {
            "must": [query or {"match_all": {}}],
            "must_not": [{"term": {"deleted": True}}],
        }
        reply = engine.search(names, {"query": {"bool": filters}, "size": 1000})
        return {hit["_id"]: hit["_source"] for hit in reply["hits"]["hits"]}

    def failures(self) -> list[str]:
        bucket = self.deployment.settings.bucket(FAILURE_BUCKET)
        return [item.key for item in self.deployment.objects.list_objects(bucket, "").objects]


def _rebuilder(deployment: Deployment, tables: Tables, engine: SearchEngine) -> Rebuilder:
    return rebuilder(
        tables,
        deployment.objects,
        deployment.queues,
        engine,
        failure_bucket=deployment.settings.bucket(FAILURE_BUCKET),
        workers=8,
        settle_delay_seconds=0,
    )


@pytest.fixture
def world(deployment: Deployment) -> World:
    """Indexes with names of their own, and a registered asset bucket."""
    return world_of(deployment)


def world_of(deployment: Deployment) -> World:
    """Create the resources of a deployment's bootstrap, except aliases, which a cluster has once.

    The indexes are not deleted, for the same reason: see the fixture `aliases`.
    """
    assets, files = f"assets-{deployment.name}", f"files-{deployment.name}"
    pointer = Pointer(assets, (assets,), files, (files,))
    for index in SEARCH_INDEXES:
        name = pointer.current(index)
        deployment.engine.create_index(name, mapping=index.mapping, settings=index.settings)
    SearchState(deployment.tables, lambda: NOON).begin(pointer)
    bucket = deployment.settings.bucket(ASSET_BUCKET)
    stored_bucket(deployment.tables, name=bucket)
    made = _rebuilder(deployment, deployment.tables, deployment.engine)
    return World(deployment, pointer, made, bucket)


class OwnSearch:
    """An OpenSearch that one test may kill."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = self._start(None)

    @property
    def url(self) -> str:
        return self._running.endpoint.url

    def kill_and_start(self) -> None:
        """Kill it and start it again on its data, at the same address."""
        self._running.kill()
        self._running = self._start(self._running.endpoint.port)

    def stop(self) -> None:
        self._running.stop()

    def _start(self, port: int | None) -> Running:
        engine, log = ENGINES["opensearch"], self._folder / "opensearch.log"
        engine.prepare(TOOLS, lambda _: None)
        running = engine.start(TOOLS, self._folder / "data", log=log, port=port)
        running.wait_healthy()
        return running


@pytest.fixture
def own_search(tmp_path: Path) -> Iterator[OwnSearch]:
    """Tests that run at the same time share the other engines."""
    own = OwnSearch(tmp_path)
    yield own
    own.stop()
