"""A bucket whose events make assets, over ports in memory."""

import pytest

from tests.factories.bucket_sync import SyncWorld


@pytest.fixture
def world() -> SyncWorld:
    return SyncWorld()
