"""How much is going on: every call of a consumer and every event sent is counted.

`drained` needs it: what was looked at piece by piece is one picture only if nothing has begun or
ended in between. Who asks waits: the time of the last question is kept, since pumps gather no
longer then.
"""

import contextlib
import math
import time
from collections.abc import Generator


class Activity:
    """Counts what begins and ends in the event loop that owns it."""

    def __init__(self) -> None:
        """Begin with nothing going on."""
        self.epoch = 0
        self.running = 0
        self.asked = -math.inf

    def hurry(self) -> None:
        """Note that somebody waits: what was gathered until now is handed over."""
        self.asked = time.monotonic()

    @contextlib.contextmanager
    def working(self) -> Generator[None, None, None]:
        """Count one piece of work from its begin to its end."""
        self.epoch += 1
        self.running += 1
        try:
            yield
        finally:
            self.epoch += 1
            self.running -= 1
