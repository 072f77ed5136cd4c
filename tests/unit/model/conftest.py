"""Histories that go the same way each time, so that those that fail can be made shorter."""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Self, TypeVar
from uuid import UUID

import pytest

T = TypeVar("T")
R = TypeVar("R")


@pytest.fixture(autouse=True, scope="module")
def repeatable() -> Iterator[None]:
    """Ids that follow from Hypothesis' seed, and one request of a worker at a time.

    Which job is picked goes by the order of ids; which request dies, by the order of threads, and
    how many of them begin before they learn of it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.core.ids.uuid4", lambda: UUID(int=random.getrandbits(128)))
        patch.setattr("secrets.token_hex", _token)
        patch.setattr("backend.core.parallel.ThreadPoolExecutor", _OneAfterTheOther)
        yield


class _OneAfterTheOther:
    """An executor without threads."""

    def __init__(self, workers: int) -> None:
        del workers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def map(self, function: Callable[[T], R], values: Iterable[T]) -> Iterator[R]:
        return map(function, values)


def _token(size: int) -> str:
    return random.randbytes(size).hex()
