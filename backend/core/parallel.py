"""Runs several requests that wait for the network at the same time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Threads for parallel requests. Fewer than the connections of a client, so that no thread waits for
# a connection.
WORKERS = 8


def in_parallel(function: Callable[[T], R], values: Sequence[T]) -> list[R]:
    """Return the function's results in the order of the values.

    If the function raises, the exception is raised here once all started calls have ended; the
    remaining calls are not started.
    """
    if len(values) <= 1:
        return [function(value) for value in values]
    with ThreadPoolExecutor(min(WORKERS, len(values))) as pool:
        return list(pool.map(function, values))
