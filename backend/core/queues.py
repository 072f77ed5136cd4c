"""The port to queues. `backend/aws/queues.py` implements it."""

from collections.abc import Sequence
from typing import Protocol

from backend.spec.queues import Queue


class Queues(Protocol):
    """Sends messages; may raise UnavailableError, after which some of them may have been sent."""

    def send(self, queue: Queue, bodies: Sequence[object], *, delay_seconds: int = 0) -> None:
        """Send JSON bodies (each below 240,000 characters), delayed by at most 900 seconds."""
        ...

    def postpone(self, queue: Queue, receipts: Sequence[str], *, seconds: int) -> None:
        """Have received messages delivered again after so many seconds, at most 43,200.

        Expired receipts are ignored: their messages are delivered again in any case.
        """
        ...
