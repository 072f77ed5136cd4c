"""SQS behind the port `core.dead_letters.DeadLetters`; SQS itself moves the messages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from backend.aws.errors import translated
from backend.aws.settings import Settings
from backend.core.dead_letters import QueueDepth, Redrive, RedriveRunningError
from backend.spec.queues import Queue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_RUNNING = frozenset({"RUNNING", "CANCELLING"})


@dataclass(eq=False, repr=False)
class SqsDeadLetters:
    """The queues of a deployment (see the port for what each method promises)."""

    client: "SQSClient"
    settings: Settings

    def depth(self, queue: Queue) -> QueueDepth:
        url = self.settings.queue(queue)
        waiting = self._attributes(url)
        # Dead letters are in the queue's account and region: only the last part of its URL differs.
        dead_letters = _dead_letters(waiting).rpartition(":")[2]
        dead = self._attributes(f"{url.rpartition('/')[0]}/{dead_letters}")
        return QueueDepth(
            waiting=int(waiting["ApproximateNumberOfMessages"]),
            in_flight=int(waiting["ApproximateNumberOfMessagesNotVisible"]),
            delayed=int(waiting["ApproximateNumberOfMessagesDelayed"]),
            dead_letters=int(dead["ApproximateNumberOfMessages"])
            + int(dead["ApproximateNumberOfMessagesNotVisible"]),
        )

    def last_redrive(self, queue: Queue) -> Redrive | None:
        source = _dead_letters(self._attributes(self.settings.queue(queue)))
        with translated("SQS"):
            reply = self.client.list_message_move_tasks(SourceArn=source, MaxResults=1)
        for task in reply.get("Results", []):
            started = datetime.fromtimestamp(task.get("StartedTimestamp", 0) / 1000, UTC)
            moved = task.get("ApproximateNumberOfMessagesMoved", 0)
            return Redrive(task.get("Status", ""), moved, started)
        return None

    def redrive(self, queue: Queue) -> None:
        # The destination is required: dead letters that EventBridge sent have no source queue.
        attributes = self._attributes(self.settings.queue(queue))
        source, destination = _dead_letters(attributes), attributes["QueueArn"]
        try:
            with translated("SQS"):
                self.client.start_message_move_task(SourceArn=source, DestinationArn=destination)
        except ClientError as error:
            last = self.last_redrive(queue)
            if last is not None and last.state in _RUNNING:
                raise RedriveRunningError(queue) from error
            raise

    def _attributes(self, url: str) -> Mapping[str, str]:
        with translated("SQS"):
            reply = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
        return {str(name): value for name, value in reply.get("Attributes", {}).items()}


def _dead_letters(attributes: Mapping[str, str]) -> str:
    """Return the ARN of a queue's dead-letter queue."""
    return json.loads(attributes["RedrivePolicy"])["deadLetterTargetArn"]
