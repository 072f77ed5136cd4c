"""Dead letters of queues in memory."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from backend.core.dead_letters import QueueDepth, Redrive, RedriveRunningError
from backend.core.errors import UnavailableError
from backend.spec.queues import Queue


@dataclass
class MemoryDeadLetters:
    """The port `DeadLetters`; messages that are moved back are in `moving`."""

    dead: dict[str, int] = field(default_factory=dict[str, int])
    moving: set[str] = field(default_factory=set[str])
    is_down: bool = False

    def depth(self, queue: Queue) -> QueueDepth:
        if self.is_down:
            raise UnavailableError("SQS does not answer")
        return QueueDepth(1, 2, 3, self.dead.get(queue.name, 0))

    def last_redrive(self, queue: Queue) -> Redrive | None:
        if queue.name not in self.moving:
            return None
        return Redrive("RUNNING", 4, datetime(2026, 3, 1, tzinfo=UTC))

    def redrive(self, queue: Queue) -> None:
        if queue.name in self.moving:
            raise RedriveRunningError(queue)
        self.moving.add(queue.name)
