"""The consumer of the audit trail that notifies subscribers: batches, outages, poison."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from backend.aws.items import from_wire, to_wire
from backend.core.errors import UnavailableError
from backend.domains.subscriptions.rules import Notification
from backend.domains.subscriptions.service.consumers import NotificationsConsumer
from backend.domains.subscriptions.service.notifications import Notifier


@dataclass
class RecordingNotifier:
    """Replaces the service that notifies people."""

    happenings: list[Notification] = field(default_factory=list[Notification])
    down: bool = False

    def notify(self, happenings: Iterable[Notification]) -> int:
        if self.down:
            raise UnavailableError("SNS does not answer")
        self.happenings += happenings
        return 1


@dataclass
class RecordingFailures:
    names: list[str] = field(default_factory=list[str])

    def store(self, name: str, body: object, reason: str) -> None:
        self.names.append(name)


def record(number: int, **changes: Any) -> dict[str, Any]:
    entry = {"entity": "asset:museum:statue", "at": "2026#1", "userId": "ann", "operation": "move"}
    image = to_wire({**entry, **changes})
    return {"eventID": f"e{number}", "dynamodb": {"SequenceNumber": str(number), "NewImage": image}}


def consume(
    notifier: RecordingNotifier, failures: RecordingFailures, *records: dict[str, Any]
) -> Any:
    consumer = NotificationsConsumer(cast("Notifier", notifier), from_wire, failures.store)
    return consumer.consume({"Records": list(records)})


def test_all_records_of_a_batch_are_passed_to_the_notifier() -> None:
    notifier, failures = RecordingNotifier(), RecordingFailures()
    reply = consume(notifier, failures, record(1), record(2, operation="create_asset"), record(3))
    assert reply == {"batchItemFailures": []}
    assert [one.operation for one in notifier.happenings] == ["move", "move"]
    assert failures.names == []


def test_a_record_that_cannot_be_understood_is_kept_and_stops_no_other() -> None:
    notifier, failures = RecordingNotifier(), RecordingFailures()
    broken = {"eventID": "e2", "dynamodb": {"SequenceNumber": "2"}}
    reply = consume(notifier, failures, record(1), broken, record(3, entity="tag:red"))
    assert reply == {"batchItemFailures": []}
    assert (len(notifier.happenings), failures.names) == (1, ["e2", "e3"])


def test_after_an_outage_the_whole_batch_comes_again() -> None:
    reply = consume(RecordingNotifier(down=True), RecordingFailures(), record(1), record(2))
    assert reply == {"batchItemFailures": [{"itemIdentifier": "1"}]}
