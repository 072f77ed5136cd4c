"""SQS in memory: messages can be inspected or delivered, repeatedly if their consumer fails.

The contract suite of the real engines also tests it (`tests/contract/queues`).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.spec.queues import Queue

VISIBILITY_SECONDS = 180


@dataclass
class Message:
    """One message of a queue; it is visible to consumers from a time on."""

    queue: str
    body: str
    delay: int
    visible_from: float
    id: str
    received: int = 0
    receipt: str = ""


@dataclass
class MemoryQueues:
    """The port `Queues`, and its consumers' side."""

    before: Callable[[str], None] = lambda operation: None
    now: Callable[[], float] = lambda: 0.0
    postponed: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    messages: list[Message] = field(default_factory=list[Message])
    made: int = 0

    def send(self, queue: Queue, bodies: Sequence[object], *, delay_seconds: int = 0) -> None:
        self.before("send")
        for body in bodies:
            self.made += 1
            visible = self.now() + delay_seconds
            message = Message(
                queue.name, json.dumps(body), delay_seconds, visible, f"message-{self.made}"
            )
            self.messages.append(message)

    def postpone(self, queue: Queue, receipts: Sequence[str], *, seconds: int) -> None:
        self.before("postpone")
        self.postponed += [(queue.name, receipt, seconds) for receipt in receipts]
        for message in self.messages:
            if message.receipt and message.receipt in receipts:
                message.visible_from = self.now() + seconds

    @property
    def sent(self) -> list[tuple[str, Any, int]]:
        """The messages of all queues: the queue's name, the body and the delay."""
        return [(m.queue, json.loads(m.body), m.delay) for m in self.messages]

    def take(self, queue: Queue) -> list[Any]:
        """The messages that were sent to a queue since the last call."""
        result = [body for name, body, _ in self.sent if name == queue.name]
        self.messages = [m for m in self.messages if m.queue != queue.name]
        return result

    def visible(self, queue: Queue) -> list[Message]:
        """The messages that a consumer may receive now."""
        return [m for m in self.messages if m.queue == queue.name and m.visible_from <= self.now()]

    def receive(
        self, messages: Sequence[Message], *, hidden_seconds: float = VISIBILITY_SECONDS
    ) -> list[dict[str, Any]]:
        """Deliver messages to a consumer, as Lambda does; failed ones are delivered again."""
        value: list[dict[str, Any]] = []
        for message in messages:
            self.made += 1
            message.received += 1
            message.receipt = f"receipt-{self.made}"
            message.visible_from = self.now() + hidden_seconds
            value.append(
                {
                    "messageId": message.id,
                    "receiptHandle": message.receipt,
                    "body": message.body,
                    "attributes": {"ApproximateReceiveCount": str(message.received)},
                }
            )
        return value

    def remove(self, message_ids: set[str]) -> None:
        """Acknowledge messages."""
        self.messages = [m for m in self.messages if m.id not in message_ids]
