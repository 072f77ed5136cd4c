"""Decides whether and when a request is retried, and waits until then.

Retried are 429 and 503 of the server, broken replies of repeatable requests (such as time-outs of
the gateway), and broken connections: failures to connect for every request, later ones for
repeatable requests only.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

# Statuses of requests that the server did not execute. Any request may be retried, except after
# `OutcomeUnknown` (decision 39).
REFUSED_FOR_NOW = frozenset({429, 503})

# Statuses of requests that the server may have executed. Only repeatable requests may be retried. A
# 503 is one of these if the server's code is that of a failure, or if it has no code: the gateway's
# 503 may be a timeout.
BROKE_UNDERWAY = frozenset({500, 502, 503, 504})

_UNAVAILABLE = 503
# The server has received nothing of these requests, so a write may be sent again too.
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """A limited exponential back-off with full jitter.

    Retry-After takes precedence, up to a limit.
    """

    # With the delays below, five pauses of eight seconds together at most.
    attempts: int = 6
    first_delay: float = 0.25
    longest_delay: float = 8.0
    # The server sends at most 60: its rate limits count by the minute.
    longest_retry_after: float = 90.0
    jitter: Callable[[float, float], float] = random.uniform

    def delay(self, attempt: int, retry_after: float | None = None) -> float:
        """Return the seconds to wait after an attempt (counted from 1)."""
        if retry_after is not None:
            return min(max(retry_after, 0.0), self.longest_retry_after)
        ceiling = min(self.longest_delay, self.first_delay * 2 ** (attempt - 1))
        # Many clients that were refused at the same time come back at different ones.
        return self.jitter(ceiling / 2, ceiling)

    def tries_status_again(self, status: int, code: str | None = None, *, repeatable: bool) -> bool:
        if status == _UNAVAILABLE and code in {None, "OutcomeUnknown"}:
            return repeatable
        return status in REFUSED_FOR_NOW or (repeatable and status in BROKE_UNDERWAY)

    def tries_error_again(self, error: httpx.RequestError, *, repeatable: bool) -> bool:
        # Never different at the next attempt.
        if isinstance(error, httpx.UnsupportedProtocol):
            return False
        return repeatable or isinstance(error, NEVER_SENT)


# A shorter wait is not reported: throttling usually ends within seconds.
REPORT_SECONDS: Final = 10.0


class Pauses:
    """Waits before further attempts. Safe to share between threads.

    `say` is called with the reason once a request has taken ten seconds, and every ten seconds.
    """

    def __init__(
        self,
        sleep: Callable[[float], None] = time.sleep,
        say: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock = clock
        self._sleep = sleep
        self.say = say
        self._said = clock() - REPORT_SECONDS

    def wait(self, seconds: float, *, since: float, fact: str) -> None:
        """Wait before another attempt of a request that began at `since`; `fact` is the reason."""
        now = self.clock()
        if now + seconds - since >= REPORT_SECONDS and now - self._said >= REPORT_SECONDS:
            self._said = now
            self.say(f"{fact}: trying again, for {now - since:.0f} s so far")
        self._sleep(seconds)


def retry_after_seconds(response: httpx.Response) -> float | None:
    """Parse Retry-After, in seconds or as a date; None if it is missing or invalid."""
    text = response.headers.get("Retry-After", "").strip()
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment - datetime.now(tz=UTC)).total_seconds()
