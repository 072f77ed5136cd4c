"""ElasticMQ: delay, visibility, dead letters, and no loss after a kill -9."""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tests.integration.local.engines.support import Site

if TYPE_CHECKING:
    from mypy_boto3_sqs.literals import QueueAttributeNameType

ENGINE = "queues"
PATIENCE_SECONDS = 60


def make(
    site: Site,
    name: str,
    attributes: "Mapping[QueueAttributeNameType, str] | None" = None,
    tags: dict[str, str] | None = None,
) -> str:
    made = site.clients.sqs.create_queue(
        QueueName=name, Attributes=dict(attributes or {}), tags=tags or {}
    )
    return made["QueueUrl"]


def crash_and_restart(site: Site, queue: str, *, messages: int = 0) -> None:
    """Also wait until a queue and its messages are restored, a moment after the first reply."""
    # A queue is on disk some milliseconds after the reply; without `WRITE_DELAY=0` half a second.
    time.sleep(0.2)
    site.crash_and_restart()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while stored(site, queue) != messages:
        assert time.monotonic() < deadline, f"{stored(site, queue)} messages, not {messages}"
        time.sleep(0.05)


def stored(site: Site, queue: str) -> int | None:
    """The number of messages in a queue, visible or hidden; 0 without the queue."""
    try:
        result = attributes(site, queue)
    except site.clients.sqs.exceptions.QueueDoesNotExist:
        return None
    hidden = result["ApproximateNumberOfMessagesNotVisible"]
    return int(result["ApproximateNumberOfMessages"]) + int(hidden)


def arn(site: Site, queue: str) -> str:
    return attributes(site, queue)["QueueArn"]


def attributes(site: Site, queue: str) -> "Mapping[QueueAttributeNameType, str]":
    answer = site.clients.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])
    return answer["Attributes"]


def receive(site: Site, queue: str, *, wait: int = 0) -> dict[str, str]:
    """Return the bodies received, with their receipt handles."""
    answer = site.clients.sqs.receive_message(
        QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=wait
    )
    return {
        message.get("Body", ""): message.get("ReceiptHandle", "")
        for message in answer.get("Messages", [])
    }


def receive_all(site: Site, queue: str) -> set[str]:
    bodies: set[str] = set()
    while received := receive(site, queue):
        bodies |= received.keys()
    return bodies


def test_queues_with_attributes_and_tags_survive_a_crash(site: Site) -> None:
    dead = arn(site, make(site, "buried"))
    policy = json.dumps({"deadLetterTargetArn": dead, "maxReceiveCount": 3})
    queue = make(
        site,
        "kept",
        {"VisibilityTimeout": "7", "DelaySeconds": "1", "RedrivePolicy": policy},
        {"a": "b"},
    )
    crash_and_restart(site, queue)
    result = attributes(site, queue)
    assert result["VisibilityTimeout"] == "7"
    assert result["DelaySeconds"] == "1"
    assert json.loads(result["RedrivePolicy"]) == json.loads(policy)
    assert site.clients.sqs.list_queue_tags(QueueUrl=queue).get("Tags") == {"a": "b"}


def test_no_acknowledged_message_is_lost_and_no_deleted_one_comes_back_after_a_crash(
    site: Site,
) -> None:
    queue = make(site, "durable")
    client = site.clients.sqs
    for number in range(50):
        client.send_message(QueueUrl=queue, MessageBody=str(number))
    deleted = receive(site, queue)
    for handle in deleted.values():
        client.delete_message(QueueUrl=queue, ReceiptHandle=handle)
    crash_and_restart(site, queue, messages=50 - len(deleted))
    assert receive_all(site, queue) == {str(number) for number in range(50)} - deleted.keys()


def test_a_receipt_handle_is_good_after_a_crash(site: Site) -> None:
    queue = make(site, "held", {"VisibilityTimeout": "60"})
    site.clients.sqs.send_message(QueueUrl=queue, MessageBody="x")
    handle = receive(site, queue, wait=20)["x"]
    crash_and_restart(site, queue, messages=1)
    site.clients.sqs.delete_message(QueueUrl=queue, ReceiptHandle=handle)
    result = attributes(site, queue)
    assert result["ApproximateNumberOfMessagesNotVisible"] == "0"
    assert result["ApproximateNumberOfMessages"] == "0"
