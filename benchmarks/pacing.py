"""Calls at a steady rate, and percentiles of durations."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

CLIENTS = 4  # the number of processes of one function that serve at the same time


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of durations in seconds."""

    count: int
    p50: float
    p90: float
    p99: float
    highest: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Percentiles":
        """The percentiles of at least two values."""
        cuts = quantiles(seconds, n=100, method="inclusive")
        return cls(len(seconds), cuts[49], cuts[89], cuts[98], max(seconds))


def seconds_of(call: Callable[[], Any]) -> float:
    """The duration of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def at_rate(rate: float, seconds: float, call: Callable[[int], None]) -> float:
    """Call with 0, 1, … at this rate per second; return the rate that was reached.

    A call that takes longer than its interval does not delay the next one as long as a client is
    free.
    """
    count = round(rate * seconds)
    began = time.perf_counter()
    calls: list[Future[None]] = []
    with ThreadPoolExecutor(CLIENTS) as clients:
        for number in range(count):
            time.sleep(max(0.0, began + number / rate - time.perf_counter()))
            calls.append(clients.submit(call, number))
    for sent in calls:
        sent.result()
    return count / (time.perf_counter() - began)


def per_second(seconds: float, call: Callable[[], Any]) -> float:
    """Calls per second that `CLIENTS` clients complete, each calling again immediately."""
    stop = time.perf_counter() + seconds

    def search(_: int) -> int:
        answered = 0
        while time.perf_counter() < stop:
            call()
            answered += 1
        return answered

    with ThreadPoolExecutor(CLIENTS) as clients:
        return sum(clients.map(search, range(CLIENTS))) / seconds
