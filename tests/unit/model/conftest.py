"""Histories that go the same way each time, so that those that fail can be made shorter."""

import random
from collections.abc import Iterator
from uuid import UUID

import pytest


@pytest.fixture(autouse=True, scope="module")
def repeatable() -> Iterator[None]:
    """Ids that follow from Hypothesis' seed, and one request of a worker at a time.

    Which job is picked goes by the order of ids; which request dies, by the order of threads.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.core.ids.uuid4", lambda: UUID(int=random.getrandbits(128)))
        patch.setattr("secrets.token_hex", _token)
        patch.setattr("backend.core.parallel.WORKERS", 1)
        yield


def _token(size: int) -> str:
    return random.randbytes(size).hex()
