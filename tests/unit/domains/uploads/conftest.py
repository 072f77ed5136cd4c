"""One request at a time: the store in memory is not made for threads, the real ones are tested."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.files import Gallery, gallery
from tests.unit.domains.uploads.large import World


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Gallery:
    return gallery(tables, objects)


@pytest.fixture
def world(tables: Tables, objects: S3Objects) -> World:
    return World(tables, objects)
