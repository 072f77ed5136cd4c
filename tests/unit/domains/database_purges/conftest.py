"""One request at a time, as the stores in memory demand."""

import pytest

from tests.unit.domains.database_purges.world import World


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture
def world() -> World:
    return World()
