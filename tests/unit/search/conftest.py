"""The indexing path over AWS in process and an engine in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.search_engine import JsonObject
from backend.core.tables import Tables
from backend.search.indexing.changes import Changes
from backend.search.indexing.consumers import QueueConsumer, StreamConsumer
from backend.search.indexing.fan_out import FanOuts
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.state import SearchState
from backend.spec.metrics import Metric
from backend.spec.queues import Queue
from tests.factories.buckets import stored_bucket
from tests.factories.jobs import job_service
from tests.factories.search import NOON, rebuilder
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine


@pytest.fixture
def engine(tables: Tables) -> MemorySearchEngine:
    """An engine with both indexes, whose names the state knows; the asset bucket is registered."""
    engine = MemorySearchEngine()
    ensure_indexes(engine, SearchState(tables, lambda: NOON))
    stored_bucket(tables)
    return engine


@pytest.fixture
def sent() -> MemoryQueues:
    return MemoryQueues()


@pytest.fixture
def indexing(
    tables: Tables, objects: S3Objects, sent: MemoryQueues, engine: MemorySearchEngine
) -> Rebuilder:
    return rebuilder(tables, objects, sent, engine)


@dataclass
class IndexingWorld:
    """The indexing path with its ports; `tables` may count requests."""

    tables: Any
    objects: S3Objects
    sent: MemoryQueues
    engine: MemorySearchEngine
    indexing: Rebuilder
    rung: list[Metric] = field(default_factory=list[Metric])

    @cached_property
    def streams(self) -> StreamConsumer:
        fan_outs = FanOuts(self.tables, job_service(self.tables))
        return StreamConsumer(self.indexing, self.indexing.failures, fan_outs)

    def queue_consumer(self, queue: Queue, parse: Callable[..., Changes]) -> QueueConsumer:
        failures = self.indexing.failures
        return QueueConsumer(queue, self.sent, self.indexing, failures, parse, self.rung.append)

    def put(self, *keys: str) -> None:
        for key in keys:
            self.objects.put("assetbucket", key, b"x", content_type="text/plain", metadata={})

    def document(self, index: str, name: str) -> JsonObject:
        return self.engine.document(index, name) or {}


@pytest.fixture
def world(
    tables: Tables,
    objects: S3Objects,
    sent: MemoryQueues,
    engine: MemorySearchEngine,
    indexing: Rebuilder,
) -> IndexingWorld:
    return IndexingWorld(tables, objects, sent, engine, indexing)
