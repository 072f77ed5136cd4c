"""A process that hands audit entries over and publishes their events, until it is killed.

It does what Lambda does for the functions `Notifier` and `EventPublisher`: a position in the stream
is stored after its records were processed, and a message is removed after it was.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from backend.aws.clients import dynamodb, sqs
from backend.aws.event_bus import QueuedEvents
from backend.aws.items import from_wire
from backend.aws.queues import SqsQueues
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.domains.outgoing_events.repository import EventNumbers
from backend.domains.outgoing_events.service import EventPublisher, OutgoingEvents
from backend.domains.subscriptions.service.consumers import OutdatedNotifications
from backend.spec.queues import OUTGOING_EVENTS, STREAM_SUBSCRIPTIONS
from backend.spec.tables.operations import AUDIT
from local.pumps.patterns import compile_pattern
from local.pumps.records import event_record
from tests.engines import session
from tests.integration.tables import TableStream

POSITION = "EVENTS_POSITION"
"""The environment variable that names the file with the number of processed records."""


def refuse(name: str, _body: object, reason: str) -> None:
    raise AssertionError(f"{name} cannot be read: {reason}")


def audit_stream(environment: Mapping[str, str]) -> TableStream:
    """Return the stream of audit entries, from its beginning."""
    streams = session().client(
        "dynamodbstreams", endpoint_url=environment["AWS_ENDPOINT_URL_DYNAMODB"]
    )
    return TableStream(streams, Settings(environment).table(AUDIT))


def rounds() -> Iterator[bool]:
    """Process what there is now, again and again; yield whether there was anything."""
    settings = Settings(os.environ)
    queues = SqsQueues(sqs(), settings)
    stream = audit_stream(os.environ)
    handing = OutdatedNotifications(from_wire, refuse, OutgoingEvents(queues))
    publisher = EventPublisher(
        EventNumbers(DynamoTables(dynamodb(), settings)),
        QueuedEvents(queues),
        queues,
        refuse,
        lambda metric: None,
    )
    (subscription,) = (item for item in STREAM_SUBSCRIPTIONS if item.consumer == "Notifier")
    delivered = compile_pattern(str(subscription.pattern_with_events))
    position = Path(os.environ[POSITION])
    done = int(position.read_text())
    skipped = False
    while True:
        records = stream.take()[0 if skipped else done :]
        skipped = True
        for start in range(0, len(records), 5):
            batch = [dict(event_record(item, stream.arn)) for item in records[start : start + 5]]
            handing.consume({"Records": [record for record in batch if delivered(record)]})
            done += len(batch)
            fresh = position.with_suffix(".new")
            fresh.write_text(str(done))
            fresh.replace(position)
        yield bool(publish(publisher, settings.queue(OUTGOING_EVENTS)) or records)


def publish(publisher: EventPublisher, url: str) -> int:
    """Receive and publish a batch; return the number of messages."""
    reply = sqs().receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=2)
    messages = cast("list[dict[str, Any]]", reply.get("Messages", []))
    received = [
        {"messageId": m["MessageId"], "receiptHandle": m["ReceiptHandle"], "body": m["Body"]}
        for m in messages
    ]
    left = publisher.consume({"Records": received})["batchItemFailures"] if received else []
    for message in messages:
        if {"itemIdentifier": message["MessageId"]} not in left:
            sqs().delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return len(messages)


if __name__ == "__main__":
    for _ in rounds():
        os.write(1, b".\n")
