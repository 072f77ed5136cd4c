"""The studio over ports in memory."""

import pytest

from tests.factories.files import gallery
from tests.factories.outputs import Studio
from tests.unit.domains.files.changes import Ticking, memory


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ports in memory are not made for threads."""
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def studio(clock: Ticking) -> Studio:
    tables, objects = memory(clock)
    return Studio(gallery(tables, objects, clock=clock, scans=True), tables, clock)
