"""The port for operators of queues: their depths, and their dead letters.

`backend/aws/dead_letters.py` implements it. Sending is in `core.queues`.
"""

from datetime import datetime
from typing import NamedTuple, Protocol

from backend.core.errors import StateForbidsError
from backend.spec.queues import Queue


class RedriveRunningError(StateForbidsError):
    """A redrive of the queue's dead letters is already running."""

    code = "RedriveRunning"

    def __init__(self, queue: Queue) -> None:
        super().__init__(
            f"A redrive of the dead letters of {queue.name} is already running; wait until it "
            "has ended"
        )


class Redrive(NamedTuple):
    """The last redrive of a queue; `state` is the status that SQS reports, in upper case."""

    state: str
    moved: int
    started_at: datetime


class QueueDepth(NamedTuple):
    """Numbers of messages of a queue. SQS counts approximately."""

    waiting: int
    in_flight: int
    delayed: int
    dead_letters: int


class DeadLetters(Protocol):
    """Queues and the dead letters of each. All may raise UnavailableError."""

    def depth(self, queue: Queue) -> QueueDepth: ...

    def last_redrive(self, queue: Queue) -> Redrive | None: ...

    def redrive(self, queue: Queue) -> None:
        """Start to move all dead letters back. SQS moves them in the background.

        Raises:
            RedriveRunningError: an earlier redrive is still running.
        """
        ...
