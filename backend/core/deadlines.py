"""The time of the request that is being served: it ends with a reply, not with its function.

A function that runs out of time is ended without a reply, and the gateway's own reply does not say
what was done. So no request to another service begins when too little time is left.
"""

import time
from collections.abc import Callable

from backend.core.errors import UnavailableError

# Time that must remain when a request to another service starts. The request must end, and the
# reply must be sent.
REPLY_SECONDS = 5.0

# Of the five: a search may use three, and the rest serializes and sends up to 6 MB.
_SENDING_SECONDS = 2.0


class OutcomeUnknownError(UnavailableError):
    """The request was stopped before its end: a part of its changes may have been made."""

    code = "OutcomeUnknown"


class Deadline:
    """The time at which the current request has to end; a function serves one request at a time.

    Outside requests there is none: workers of queues repeat what they could not complete.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._end: float | None = None

    def begin(self, seconds: float | None) -> None:
        """Begin a request whose function may run for so long; None removes the limit."""
        self._end = None if seconds is None else self._now() + seconds

    def check(self, seconds: float = REPLY_SECONDS) -> None:
        """Require that so much time is left.

        Raises:
            OutcomeUnknownError: less is left.
        """
        if self._end is not None and self._end - self._now() < seconds:
            raise OutcomeUnknownError(
                "The request took too long and was stopped; a part of its changes may have been "
                "made, and none is made later: read the current state before you repeat it"
            )

    def within(self, most: float) -> float:
        """Return how many seconds a call may take, up to `most`, so that a reply can be sent.

        Raises:
            OutcomeUnknownError: too little time is left to begin it.
        """
        self.check()
        return most if self._end is None else min(most, self._end - self._now() - _SENDING_SECONDS)
