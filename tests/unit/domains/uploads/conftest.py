"""One request at a time: the store in memory is not made for threads, the real ones are tested."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import Gallery, gallery
from tests.factories.lifecycle import ManualClock
from tests.unit.domains.uploads.calls import World


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def museum(tables: Tables, objects: S3Objects, clock: ManualClock) -> Gallery:
    return gallery(tables, objects, clock=clock)


@pytest.fixture
def world(tables: Tables, objects: S3Objects) -> World:
    return World(tables, objects)
