"""Batches of queue messages as Lambda passes them, and the reply that returns some to the queue.

Powertools' batch processor handles each message by itself and leaves failed ones hidden for the
queue's time-out. Consumers here process a batch together, and choose when it is received again.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from backend.core.errors import UnavailableError
from backend.core.field_errors import field_errors
from backend.core.queues import Queues
from backend.spec.metrics import BATCHES_GIVEN_BACK, Metric
from backend.spec.queues import Queue

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Event = Mapping[str, Any]
Message = Mapping[str, Any]
Reply = dict[str, list[dict[str, str]]]
CountMetric = Callable[[Metric], None]
"""Emits a metric that has an alarm."""
StoreFailure = Callable[[str, object, str], None]
"""Stores an unreadable message as a failure entry: its name, its body and the reason."""
FromWire = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Converts an item of a stream record from DynamoDB's wire format."""

FIRST_PAUSE_SECONDS = 10
_GROWTH = 1.5  # after an outage, half of its duration and ten seconds
# Metrics of outages count on it: `spec.metrics` requires an event in consecutive periods.
LONGEST_PAUSE_SECONDS = 120
_log = logging.getLogger(__name__)


def failed(names: Iterable[str]) -> Reply:
    """Return a handler's reply for messages or records that it did not process."""
    return {"batchItemFailures": [{"itemIdentifier": name} for name in names]}


def sequence_of(record: Mapping[str, Any]) -> str:
    """Return the sequence number of a stream record."""
    return str(record["dynamodb"]["SequenceNumber"])


def name_of(record: Mapping[str, Any]) -> str:
    """Return the name of a stream record's failure entry."""
    return str(record.get("eventID") or sequence_of(record))


def process_records(event: Event, process: Callable[[list[dict[str, Any]]], None]) -> Reply:
    """Process the records of a stream; after an outage all of them are delivered again."""
    records = list(event["Records"])
    try:
        process(records)
    except UnavailableError as error:
        _log.warning("outage: the batch is delivered again: %s", error.message)
        return failed([sequence_of(records[0])])
    return failed(())


def return_messages(
    queues: Queues, queue: Queue, messages: Sequence[Message], *, seconds: int | None = None
) -> Reply:
    """Return messages to the queue, visible after `seconds` or after a growing pause."""
    # Without this, the queue would hide them for its visibility time-out, which is several times
    # the function's time-out.
    by_pause: dict[int, list[str]] = {}
    for message in messages:
        # Pauses reach their maximum before; a larger exponent would only be a larger number.
        times = min(received(message) - 1, 10)
        growing = min(LONGEST_PAUSE_SECONDS, int(FIRST_PAUSE_SECONDS * _GROWTH**times))
        pause = growing if seconds is None else seconds
        by_pause.setdefault(pause, []).append(str(message.get("receiptHandle")))
    try:
        for pause, receipts in by_pause.items():
            queues.postpone(queue, receipts, seconds=pause)
    # Not raised: the reply returns the messages anyway.
    except UnavailableError as error:  # they are received again anyway, only later
        _log.warning("messages of %s return after their time-out: %s", queue.name, error.message)
    return failed(str(message["messageId"]) for message in messages)


def process_batch(
    event: Event,
    process: Callable[[Sequence[Message]], Reply | None],
    queues: Queues,
    queue: Queue,
    *,
    count_metric: CountMetric,
) -> Reply:
    """Process a batch; after an outage, return all of its messages to the queue and count this."""
    messages: Sequence[Message] = event["Records"]
    try:
        return process(messages) or failed(())
    except UnavailableError as error:
        _log.warning("outage: messages return to %s: %s", queue.name, error.message)
        count_metric(BATCHES_GIVEN_BACK)
        return return_messages(queues, queue, messages)


class InvalidEventError(Exception):
    """A message contains no valid event; the text is the reason."""


def parse_messages(
    messages: Iterable[Message], read: Callable[[Message], T], store_failure: StoreFailure
) -> Iterator[T]:
    """Yield what messages contain; keep those in which `read` finds no valid event."""
    for message in messages:
        try:
            content = read(message)
        except InvalidEventError as error:
            store_failure(str(message.get("messageId") or "message"), dict(message), str(error))
        else:
            yield content


def read_body(model: type[M], message: Message) -> M:
    """Return the event in the body of a message.

    Raises:
        InvalidEventError: it has no valid one.
    """
    try:
        return model.model_validate_json(message["body"])
    except KeyError:
        raise InvalidEventError("the message has no body") from None
    except ValidationError as error:
        first = next(field_errors(error, None, place="body"))
        raise InvalidEventError(f"{first.field}: {first.message}") from error


def received(message: Message) -> int:
    """Return how often a message was received, including now."""
    return int(message.get("attributes", {}).get("ApproximateReceiveCount", 1))
