"""One request at a time: the store in memory is not made for threads, the real ones are tested."""

import pytest

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from tests.factories.lifecycle import Lifecycle, lifecycle
from tests.fakes.moto_listing import mend_key_markers


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.core.parallel.WORKERS", 1)


@pytest.fixture(autouse=True)
def corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    mend_key_markers(monkeypatch)


@pytest.fixture
def museum(tables: Tables, objects: S3Objects) -> Lifecycle:
    return lifecycle(tables, objects)
