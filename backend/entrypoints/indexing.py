"""Puts the ports of AWS behind the indexing path; a part is built when it is first asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger

from backend.aws import clients
from backend.aws.queues import SqsQueues
from backend.aws.search_engine import connect
from backend.domains.assets.repository import AssetRepository
from backend.entrypoints.wiring import Wiring
from backend.search.bulk import BulkWriter
from backend.search.changes import Changes, Record, object_changes, settle_changes
from backend.search.consumers import Event, FanOutConsumer, QueueConsumer, Reply, StreamConsumer
from backend.search.failures import FailureStore
from backend.search.fan_out import FanOuts, FanOutWorker
from backend.search.geo_keys import GeoKeys
from backend.search.owners import BucketRegistry
from backend.search.rebuild import Rebuilder
from backend.search.sources import Sources
from backend.search.state import SearchState
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.queues import FAN_OUT, OBJECT_EVENTS, SETTLE, Queue
from backend.spec.settings import SETTLE_DELAY_SECONDS

Handler = Callable[[dict[str, Any], Any], Reply]
_logger = Logger()


@dataclass(frozen=True)
class IndexingWiring(Wiring):
    """What the indexing functions are made of."""

    @cached_property
    def queues(self) -> SqsQueues:
        return SqsQueues(clients.sqs(), self.settings)

    @cached_property
    def failures(self) -> FailureStore:
        bucket = self.settings.bucket(FAILURE_BUCKET)
        return FailureStore(self.objects, bucket, self.function.name, self.clock)

    @cached_property
    def rebuilder(self) -> Rebuilder:
        return Rebuilder(
            state=SearchState(self.tables, self.clock),
            sources=Sources(self.tables, self.objects, AssetRepository(self.tables).owners),
            geo_keys=GeoKeys(self.tables),
            writer=BulkWriter(connect(self.settings)),
            failures=self.failures,
            queues=self.queues,
            settle_delay_seconds=self.settings.number(SETTLE_DELAY_SECONDS),
        )

    @property
    def changes_handler(self) -> Handler:
        fan_outs = FanOuts(self.tables, self.queues, self.clock)
        return _handler(StreamConsumer(self.rebuilder, self.failures, fan_outs).consume)

    @property
    def objects_handler(self) -> Handler:
        return self._queue_handler(OBJECT_EVENTS, object_changes)

    @property
    def settle_handler(self) -> Handler:
        return self._queue_handler(SETTLE, settle_changes, settling=True)

    @property
    def fan_out_handler(self) -> Handler:
        worker = FanOutWorker(
            tables=self.tables,
            objects=self.objects,
            registry=BucketRegistry(self.tables),
            queues=self.queues,
            rebuilder=self.rebuilder,
            clock=self.clock,
        )
        consumer = FanOutConsumer(FAN_OUT, self.queues, worker, self.failures)
        return _handler(consumer.consume)

    def _queue_handler(
        self, queue: Queue, read: Callable[[Sequence[Record]], Changes], *, settling: bool = False
    ) -> Handler:
        consumer = QueueConsumer(
            queue, self.queues, self.rebuilder, self.failures, read, settling=settling
        )
        return _handler(consumer.consume)


def _handler(consume: Callable[[Event], Reply]) -> Handler:
    @_logger.inject_lambda_context(clear_state=True)
    def handle(event: dict[str, Any], context: Any) -> Reply:  # noqa: ARG001 - Lambda's signature
        return consume(event)

    return handle
