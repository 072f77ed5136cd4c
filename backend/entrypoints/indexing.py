"""Wires the indexing path. Each part is built when it is first used."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from backend.aws.search_engine import connect
from backend.domains.assets.repository import AssetRepository
from backend.domains.buckets.service import BucketRegistry
from backend.entrypoints.job_workers import Handler, WorkerWiring, handler_of
from backend.search.indexing.bulk import BulkWriter
from backend.search.indexing.changes import Changes, Record, object_changes, settle_changes
from backend.search.indexing.consumers import QueueConsumer, StreamConsumer
from backend.search.indexing.failures import Failures
from backend.search.indexing.fan_out import FanOuts, FanOutStep
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.spec import jobs
from backend.spec.queues import FAN_OUT, OBJECT_EVENTS, SETTLE, Queue
from backend.spec.settings import SETTLE_DELAY_SECONDS


@dataclass(eq=False, repr=False)
class IndexingWiring(WorkerWiring):
    """Creates the services of the indexing functions.

    `patience` is the number of seconds for which a rebuild retries without any progress.
    """

    patience: float = 30.0

    @cached_property
    def rebuilder(self) -> Rebuilder:
        return Rebuilder(
            state=SearchState(self.tables, self.clock),
            sources=Sources(self.tables, self.objects, AssetRepository(self.tables).owners),
            geo_keys=GeoKeys(self.tables),
            writer=BulkWriter(connect(self.settings), self.patience),
            failures=self.failures,
            queues=self.queues,
            settle_delay_seconds=self.settings.number(SETTLE_DELAY_SECONDS),
        )

    @property
    def changes_handler(self) -> Handler:
        return handler_of(self.changes_consumer(self.failures).consume)

    def changes_consumer(self, failures: Failures) -> StreamConsumer:
        """Return the consumer of changes that stores poison in `failures`."""
        rebuilder = replace(self.rebuilder, failures=failures)
        return StreamConsumer(rebuilder, failures, FanOuts(self.tables, self.jobs))

    @property
    def objects_handler(self) -> Handler:
        return self._queue_handler(OBJECT_EVENTS, object_changes)

    @property
    def settle_handler(self) -> Handler:
        return self._queue_handler(SETTLE, settle_changes)

    @property
    def fan_out_handler(self) -> Handler:
        step = FanOutStep(self.tables, self.objects, BucketRegistry(self.tables), self.rebuilder)
        return self.consumer_handler(FAN_OUT, {jobs.FAN_OUT.name: step})

    def _queue_handler(self, queue: Queue, read: Callable[[Sequence[Record]], Changes]) -> Handler:
        consumer = QueueConsumer(queue, self.queues, self.rebuilder, self.failures, read, self.ring)
        return handler_of(consumer.consume)
