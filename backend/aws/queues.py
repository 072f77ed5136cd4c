"""SQS behind the port `core.queues.Queues`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backend.aws.errors import translated
from backend.aws.settings import Settings
from backend.core.errors import UnavailableError
from backend.spec.queues import Queue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_BATCH = 10  # SQS's limit of messages per request
_BATCH_BYTES = 240_000  # below SQS's limit of 256 KiB per request


@dataclass(eq=False, repr=False)
class SqsQueues:
    """The queues of a deployment (see the port for what each method promises)."""

    client: "SQSClient"
    settings: Settings

    def send(self, queue: Queue, bodies: Sequence[object], *, delay_seconds: int = 0) -> None:
        url = self.settings.queue(queue)
        batch: list[Any] = []
        size = 0
        for number, body in enumerate(bodies):
            text = json.dumps(body, separators=(",", ":"))
            if batch and (len(batch) == _BATCH or size + len(text) > _BATCH_BYTES):
                self._send(url, batch)
                batch, size = [], 0
            batch.append({"Id": str(number), "MessageBody": text, "DelaySeconds": delay_seconds})
            size += len(text)
        if batch:
            self._send(url, batch)

    def postpone(self, queue: Queue, receipts: Sequence[str], *, seconds: int) -> None:
        url = self.settings.queue(queue)
        for start in range(0, len(receipts), _BATCH):
            entries: list[Any] = [
                {"Id": str(number), "ReceiptHandle": receipt, "VisibilityTimeout": seconds}
                for number, receipt in enumerate(receipts[start : start + _BATCH])
            ]
            with translated("SQS"):
                self.client.change_message_visibility_batch(QueueUrl=url, Entries=entries)

    def _send(self, url: str, batch: list[Any]) -> None:
        with translated("SQS"):
            reply = self.client.send_message_batch(QueueUrl=url, Entries=batch)
        failed = reply.get("Failed", [])
        if failed:
            raise UnavailableError(f"SQS refused {len(failed)} messages: {failed[0]['Code']}")
