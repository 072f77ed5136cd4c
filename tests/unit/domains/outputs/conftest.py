"""The studio over ports in memory."""

import pytest

from tests.factories.files import gallery
from tests.factories.outputs import OutputSetup
from tests.unit.domains.files.changes import TickingClock, memory


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ports in memory are not made for threads."""
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


@pytest.fixture
def studio(clock: TickingClock) -> OutputSetup:
    tables, objects = memory(clock)
    return OutputSetup(gallery(tables, objects, clock=clock, scans=True), tables, clock)
