"""One request at a time: the store in memory is not made for threads, the real ones are tested."""

import pytest


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)
