"""Calls at a steady rate, and the percentiles of how long things took."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

CLIENTS = 4  # as many as processes of one function answer at once


@dataclass(frozen=True)
class Percentiles:
    """Of seconds that something took."""

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
    """How long one call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def at_rate(rate: float, seconds: float, call: Callable[[int], None]) -> float:
    """Call with 0, 1, … so many times a second; answers with the rate that was reached.

    A call that takes longer than its turn does not delay the next as long as a client is free.
    """
    count = round(rate * seconds)
    began = time.perf_counter()
    calls: list[Future[None]] = []
    with ThreadPoolExecutor(CLIENTS) as clients:
        for number in range(count):
            time.sleep(max(0.0, began + number / rate - time.perf_counter()))
            calls.append(clients.submit(call, number))
    for each in calls:
        each.result()
    return count / (time.perf_counter() - began)


def per_second(seconds: float, call: Callable[[], Any]) -> float:
    """How many calls a second `CLIENTS` clients get answered, each asking again at once."""
    stop = time.perf_counter() + seconds

    def ask(_: int) -> int:
        answered = 0
        while time.perf_counter() < stop:
            call()
            answered += 1
        return answered

    with ThreadPoolExecutor(CLIENTS) as clients:
        return sum(clients.map(ask, range(CLIENTS))) / seconds
