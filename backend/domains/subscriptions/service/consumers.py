"""Consumes the stream of audit entries: passes them to the publisher, and notifies subscribers.

After an outage the whole batch is delivered again, so some users may be notified twice. A record
that cannot be parsed is stored with the failures, so that it does not block others.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.core.deliveries import (
    Event,
    FromWire,
    Reply,
    StoreFailure,
    failed,
    name_of,
    process_records,
)
from backend.domains.outgoing_events.models import OutgoingEvent
from backend.domains.outgoing_events.service import OutgoingEvents
from backend.domains.subscriptions.rules import Notification, notification_of
from backend.domains.subscriptions.service.notifications import Notifier


@dataclass(eq=False, repr=False)
class NotificationsConsumer:
    """Consumes the stream of entries."""

    notifier: Notifier
    from_wire: FromWire
    store_failure: StoreFailure
    outgoing: OutgoingEvents | None = None

    def consume(self, event: Event) -> Reply:
        """Pass the entries of the batch to the publisher, and notify subscribers."""
        return process_records(event, self._process)

    def _process(self, records: list[dict[str, Any]]) -> None:
        read = list(_read(records, self.from_wire, self.store_failure, self.outgoing))
        # First: if notifications fail, the batch is delivered again, and events keep their numbers.
        _send(read, self.outgoing)
        self.notifier.notify(entry.notification for entry in read if entry.notification is not None)


@dataclass(eq=False, repr=False)
class OutdatedNotifications:
    """Replays entries that the consumer above stored or its mapping gave up, without notifications.

    Such records are old. A replay checks whether they can be parsed now, and passes them to the
    publisher.
    """

    from_wire: FromWire
    store_failure: StoreFailure
    outgoing: OutgoingEvents | None = None

    def consume(self, event: Event) -> Reply:
        """Store the records that still cannot be parsed."""
        records = [dict(record) for record in event["Records"]]
        _send(_read(records, self.from_wire, self.store_failure, self.outgoing), self.outgoing)
        return failed(())


class _Entry(NamedTuple):
    notification: Notification | None
    event: OutgoingEvent | None


def _read(
    records: Iterable[dict[str, Any]],
    from_wire: FromWire,
    store_failure: StoreFailure,
    outgoing: OutgoingEvents | None,
) -> Iterator[_Entry]:
    for record in records:
        try:
            entry = from_wire(record["dynamodb"].get("NewImage") or {})
            yield _Entry(notification_of(entry), outgoing and outgoing.read(entry))
        except ValueError as error:
            store_failure(name_of(record), record, str(error))


def _send(entries: Iterable[_Entry], outgoing: OutgoingEvents | None) -> None:
    events = [entry.event for entry in entries if entry.event is not None]
    if outgoing is not None and events:
        outgoing.send(events)
