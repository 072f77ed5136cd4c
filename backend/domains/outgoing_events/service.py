"""Hands audit entries to the queue of outgoing events, and publishes them from it.

Each step may be repeated: the id of an event derives from the key of its entry, and its number is
stored under the id before it is published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.deliveries import (
    CountMetric,
    Message,
    Reply,
    StoreFailure,
    parse_messages,
    process_batch,
    read_body,
    return_messages,
)
from backend.core.deliveries import Event as Delivery
from backend.core.event_bus import Event, EventBus
from backend.core.parallel import in_parallel
from backend.core.queues import Queues
from backend.core.references import AssetRef
from backend.domains.outgoing_events import rules
from backend.domains.outgoing_events.models import OutgoingEvent
from backend.domains.outgoing_events.repository import EventNumbers
from backend.spec.queues import OUTGOING_EVENTS


@dataclass(eq=False, repr=False)
class OutgoingEvents:
    """Passes entries to the publisher."""

    queues: Queues

    def read(self, entry: Mapping[str, Any]) -> OutgoingEvent | None:
        """Return the event of an audit entry as stored; None if the entry causes none.

        Raises:
            ValueError: the entry lacks a value that its event requires.
        """
        return rules.event_of(entry)

    def send(self, events: Sequence[OutgoingEvent]) -> None:
        """Send events to the queue.

        Raises:
            UnavailableError: SQS does not respond; some may have been sent.
        """
        self.queues.send(
            OUTGOING_EVENTS, [event.model_dump(mode="json", by_alias=True) for event in events]
        )


@dataclass(eq=False, repr=False)
class EventPublisher:
    """Consumes the queue of outgoing events."""

    numbers: EventNumbers
    bus: EventBus
    queues: Queues
    store_failure: StoreFailure
    count_metric: CountMetric

    def consume(self, event: Delivery) -> Reply:
        """Publish the events of a batch; return those that the bus refused to the queue."""
        return process_batch(
            event, self._publish, self.queues, OUTGOING_EVENTS, count_metric=self.count_metric
        )

    def _publish(self, messages: Sequence[Message]) -> Reply:
        read = parse_messages(
            messages,
            lambda message: (read_body(OutgoingEvent, message), message),
            self.store_failure,
        )
        # Numbers order the changes of a batch as far as it knows them.
        waiting = sorted(read, key=lambda pair: pair[0].at)
        by_asset: dict[AssetRef, list[OutgoingEvent]] = {}
        for event, _ in waiting:
            by_asset.setdefault(AssetRef(event.database_id, event.asset_id), []).append(event)
        numbers: dict[str, int] = {}
        for drawn in in_parallel(lambda item: self.numbers.draw(*item), list(by_asset.items())):
            numbers |= drawn
        waiting.sort(key=lambda pair: numbers[pair[0].id])
        refused = self.bus.publish(
            [
                Event(type=event.type, at=event.at, detail=event.detail(numbers[event.id]))
                for event, _ in waiting
            ]
        )
        left = [waiting[position][1] for position in sorted(refused)]
        return return_messages(self.queues, OUTGOING_EVENTS, left)
