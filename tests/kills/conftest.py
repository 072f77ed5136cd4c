"""The fixtures of other folders, for tests that kill their engines."""

import pytest

from tests.integration.audit.conftest import archive, assets, metadata, place
from tests.integration.conftest import asset_bucket, deployment, table_set, tables_of_worker
from tests.integration.indexing.conftest import own_search

__all__ = [
    "archive",
    "asset_bucket",
    "assets",
    "deployment",
    "metadata",
    "own_search",
    "place",
    "table_set",
    "tables_of_worker",
]

LONGEST = ("test_engine_kills", "test_lifecycle")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that all workers end at about the same time."""
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))
