"""SQS in memory: what was sent, to be looked at or delivered, as often as its consumer fails.

Held to the same suite as the real engines (`tests/contract/queues`).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.spec.queues import Queue

VISIBILITY_SECONDS = 180


@dataclass
class Message:
    """One message of a queue; it is seen by consumers from a time on."""

    queue: str
    body: str
    delay: int
    visible_from: float
    id: str
    received: int = 0
    receipt: str = ""


@dataclass
class MemoryQueues:
    """The port `Queues`, and the consumers' side of it."""

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
        """What is in the queues: the name of each, the body and the delay."""
        return [(m.queue, json.loads(m.body), m.delay) for m in self.messages]

    def take(self, queue: Queue) -> list[Any]:
        """What was sent to a queue since it was asked last."""
        found = [body for name, body, _ in self.sent if name == queue.name]
        self.messages = [m for m in self.messages if m.queue != queue.name]
        return found

    def visible(self, queue: Queue) -> list[Message]:
        """The messages that a consumer may be given now."""
        return [m for m in self.messages if m.queue == queue.name and m.visible_from <= self.now()]

    def receive(
        self, messages: Sequence[Message], *, hidden_seconds: float = VISIBILITY_SECONDS
    ) -> list[dict[str, Any]]:
        """Give messages to a consumer, as Lambda gets them; they come again unless they go."""
        given: list[dict[str, Any]] = []
        for message in messages:
            self.made += 1
            message.received += 1
            message.receipt = f"receipt-{self.made}"
            message.visible_from = self.now() + hidden_seconds
            given.append(
                {
                    "messageId": message.id,
                    "receiptHandle": message.receipt,
                    "body": message.body,
                    "attributes": {"ApproximateReceiveCount": str(message.received)},
                }
            )
        return given

    def remove(self, message_ids: set[str]) -> None:
        """Acknowledge messages."""
        self.messages = [m for m in self.messages if m.id not in message_ids]
