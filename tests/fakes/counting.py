"""Counts requests of boto3 clients by operation."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def requests_of(*clients: Any) -> Generator[Counter[str]]:
    """Count the requests of each operation that the clients send while the block runs."""
    counted: Counter[str] = Counter()

    def count(model: Any, **_: object) -> None:
        counted[model.name] += 1

    for client in clients:
        client.meta.events.register("before-call", count)
    try:
        yield counted
    finally:
        for client in clients:
            client.meta.events.unregister("before-call", count)
