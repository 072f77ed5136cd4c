"""What the indexing functions do with a batch: read the events, keep the poison, rebuild the rest.

A batch that was worked through is acknowledged as a whole, since nothing is acknowledged before
everything is written. An outage is nobody's fault in particular: the whole batch comes again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools import Logger

from backend.core.errors import UnavailableError
from backend.core.queues import Queues
from backend.search.changes import Changes, Poison, Record, table_changes
from backend.search.failures import FailureStore
from backend.search.fan_out import FanOuts, FanOutWorker
from backend.search.rebuild import Rebuilder
from backend.search.references import MalformedReferenceError
from backend.spec.queues import Queue

Event = Mapping[str, Any]
FIRST_PAUSE_SECONDS = 10
LONGEST_PAUSE_SECONDS = 120
Reply = dict[str, list[dict[str, str]]]
_logger = Logger()


@dataclass(frozen=True, slots=True)
class StreamConsumer:
    """Consumes batches of DynamoDB stream records."""

    rebuilder: Rebuilder
    failures: FailureStore
    fan_outs: FanOuts

    def consume(self, event: Event) -> Reply:
        """Work through the batch.

        Raises:
            UnavailableError: something is down; the mapping delivers the batch again.
        """
        changes = table_changes(event["Records"])
        _keep(changes.poison, self.failures)
        self.fan_outs.start(changes.fan_outs)
        self.rebuilder.rebuild(changes.references)
        return _reply(())


@dataclass(frozen=True, slots=True)
class QueueConsumer:
    """Consumes batches of queue messages that name documents."""

    queue: Queue
    queues: Queues
    rebuilder: Rebuilder
    failures: FailureStore
    read: Callable[[Sequence[Record]], Changes]
    settling: bool = False

    def consume(self, event: Event) -> Reply:
        """Work through the batch; after an outage all of its messages are given back."""
        messages: Sequence[Record] = event["Records"]
        try:
            changes = self.read(messages)
            _keep(changes.poison, self.failures)
            self.rebuilder.rebuild(changes.references, settling=self.settling)
        except UnavailableError as error:
            return _given_back(self.queues, self.queue, messages, error)
        return _reply(())


@dataclass(frozen=True, slots=True)
class FanOutConsumer:
    """Consumes pages of fan-outs."""

    queue: Queue
    queues: Queues
    worker: FanOutWorker
    failures: FailureStore

    def consume(self, event: Event) -> Reply:
        """Work through the batch; messages that met an outage are given back."""
        failed: list[dict[str, str]] = []
        for message in event["Records"]:
            try:
                self.worker.work(message["body"])
            except MalformedReferenceError as error:
                poison = Poison(str(message["messageId"]), message, str(error))
                _keep([poison], self.failures)
            except UnavailableError as error:
                reply = _given_back(self.queues, self.queue, [message], error)
                failed += reply["batchItemFailures"]
        return {"batchItemFailures": failed}


def _keep(poison: Iterable[Poison], failures: FailureStore) -> None:
    for item in poison:
        failures.keep(item.name, item.body, item.reason)


def _given_back(
    queues: Queues, queue: Queue, messages: Sequence[Record], error: UnavailableError
) -> Reply:
    """Give messages back, to come again after a pause that grows with each of their deliveries.

    By itself a queue would wait six times as long as the function may run.
    """
    _logger.warning("an outage: messages are given back", extra={"reason": error.message})
    by_pause: dict[int, list[str]] = {}
    for message in messages:
        by_pause.setdefault(_pause(message), []).append(str(message.get("receiptHandle")))
    try:
        for seconds, receipts in by_pause.items():
            queues.postpone(queue, receipts, seconds=seconds)
    except UnavailableError as failed:  # they come again all the same, only later
        _logger.warning("messages wait for their time-out", extra={"reason": failed.message})
    return _reply(str(message["messageId"]) for message in messages)


def _pause(message: Record) -> int:
    received = int(message.get("attributes", {}).get("ApproximateReceiveCount", 1))
    return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(received - 1, 10))


def _reply(failed: Iterable[str]) -> Reply:
    return {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}
