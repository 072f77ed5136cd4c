"""Consumers of the indexing path: parse events, store poison events, rebuild the documents.

A batch is acknowledged as a whole, because nothing is acknowledged before everything is written.
After an outage, which is not specific to one event, the whole batch is delivered again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from backend.core.deliveries import CountMetric, Event, Reply, failed, process_batch
from backend.core.queues import Queues
from backend.search.indexing.changes import Changes, Poison, Record, table_changes
from backend.search.indexing.failures import Failures
from backend.search.indexing.fan_out import FanOuts
from backend.search.indexing.rebuild import Rebuilder
from backend.spec.queues import Queue


@dataclass(eq=False, repr=False)
class StreamConsumer:
    """Consumes batches of DynamoDB stream records."""

    rebuilder: Rebuilder
    failures: Failures
    fan_outs: FanOuts

    def consume(self, event: Event) -> Reply:
        """Process the batch.

        Raises:
            UnavailableError: a service is unavailable; the mapping delivers the batch again.
        """
        changes = table_changes(event["Records"])
        _store_failures(changes.poison, self.failures)
        self.fan_outs.start(changes.fan_outs)
        self.rebuilder.rebuild(changes.references, settles=changes.records)
        return failed(())


@dataclass(eq=False, repr=False)
class QueueConsumer:
    """Consumes batches of queue messages that name documents."""

    queue: Queue
    queues: Queues
    rebuilder: Rebuilder
    failures: Failures
    read: Callable[[Sequence[Record]], Changes]
    count_metric: CountMetric

    def consume(self, event: Event) -> Reply:
        """Process the batch; after an outage, return all of its messages to the queue."""
        return process_batch(
            event, self._process, self.queues, self.queue, count_metric=self.count_metric
        )

    def _process(self, messages: Sequence[Record]) -> None:
        changes = self.read(messages)
        _store_failures(changes.poison, self.failures)
        self.rebuilder.rebuild(changes.references, settles=changes.records)


def _store_failures(poison: Iterable[Poison], failures: Failures) -> None:
    for item in poison:
        failures.store(item.name, item.body, item.reason)
