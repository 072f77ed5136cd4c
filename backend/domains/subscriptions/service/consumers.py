"""Consumes the stream of audit entries, and notifies subscribers.

After an outage the whole batch is delivered again, so some users may be notified twice. A record
that cannot be parsed is stored with the failures, so that it does not block others.
"""

from dataclasses import dataclass
from typing import Any

from backend.core.deliveries import (
    Event,
    FromWire,
    Reply,
    StoreFailure,
    failed,
    name_of,
    process_records,
)
from backend.domains.subscriptions.rules import Notification, notification_of
from backend.domains.subscriptions.service.notifications import Notifier


@dataclass(eq=False, repr=False)
class NotificationsConsumer:
    """Consumes the stream of entries."""

    notifier: Notifier
    from_wire: FromWire
    store_failure: StoreFailure

    def consume(self, event: Event) -> Reply:
        """Notify subscribers of the changes of assets in the batch."""
        return process_records(event, self._notify)

    def _notify(self, records: list[dict[str, Any]]) -> None:
        happenings = (
            _happening_of(record, self.from_wire, self.store_failure) for record in records
        )
        self.notifier.notify(happening for happening in happenings if happening is not None)


@dataclass(eq=False, repr=False)
class OutdatedNotifications:
    """Replays entries that the consumer above stored or its mapping gave up, without notifications.

    Such records are old. A replay only checks whether they can be parsed now, and then removes
    them.
    """

    from_wire: FromWire
    store_failure: StoreFailure

    def consume(self, event: Event) -> Reply:
        """Store the records that still cannot be parsed."""
        for record in event["Records"]:
            _happening_of(dict(record), self.from_wire, self.store_failure)
        return failed(())


def _happening_of(
    record: dict[str, Any], from_wire: FromWire, store_failure: StoreFailure
) -> Notification | None:
    try:
        return notification_of(from_wire(record["dynamodb"].get("NewImage") or {}))
    except ValueError as error:
        store_failure(name_of(record), record, str(error))
        return None
