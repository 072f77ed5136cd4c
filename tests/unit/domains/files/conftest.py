"""One request at a time: the store in memory is not made for threads, the real ones are tested."""

import pytest

from tests.factories.files import Gallery, gallery
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.files.changes import TickingClock, memory


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


@pytest.fixture
def tables() -> MemoryTables:
    return MemoryTables()


@pytest.fixture
def objects(clock: TickingClock) -> MemoryObjects:
    return memory(clock)[1]


@pytest.fixture
def museum(tables: MemoryTables, objects: MemoryObjects, clock: TickingClock) -> Gallery:
    return gallery(tables, objects, clock=clock)
