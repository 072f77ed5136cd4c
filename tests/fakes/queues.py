"""SQS in memory: what was sent, to be looked at or delivered."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.spec.queues import Queue


@dataclass
class MemoryQueues:
    """The port `Queues`. Bodies are kept as a consumer would find them after JSON."""

    sent: list[tuple[str, Any, int]] = field(default_factory=list[tuple[str, Any, int]])
    postponed: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    before: Callable[[str], None] = lambda operation: None

    def send(self, queue: Queue, bodies: Sequence[object], *, delay_seconds: int = 0) -> None:
        self.before("send")
        for body in bodies:
            self.sent.append((queue.name, json.loads(json.dumps(body)), delay_seconds))

    def postpone(self, queue: Queue, receipts: Sequence[str], *, seconds: int) -> None:
        self.before("postpone")
        self.postponed += [(queue.name, receipt, seconds) for receipt in receipts]

    def take(self, queue: Queue) -> list[Any]:
        """What was sent to a queue since it was asked last."""
        found = [body for name, body, _ in self.sent if name == queue.name]
        self.sent = [entry for entry in self.sent if entry[0] != queue.name]
        return found
