"""Counts calls of consumers and events in progress.

`drained` checks its sources one after the other. The result is consistent only if no work began or
ended in between, which these counts show. The time of the last check is stored too: while a client
waits for the result, pumps deliver changes without collecting batches.
"""

import contextlib
import math
import time
from collections.abc import Generator


class Activity:
    """Counts the beginnings and ends of work in one event loop."""

    def __init__(self) -> None:
        """Start without work in progress."""
        self.epoch = 0
        self.running = 0
        self.requested_at = -math.inf

    def request_delivery(self) -> None:
        """Record that a client waits, so that collected changes are delivered now."""
        self.requested_at = time.monotonic()

    @contextlib.contextmanager
    def working(self) -> Generator[None, None, None]:
        """Count one unit of work, from its beginning to its end."""
        self.epoch += 1
        self.running += 1
        try:
            yield
        finally:
            self.epoch += 1
            self.running -= 1
