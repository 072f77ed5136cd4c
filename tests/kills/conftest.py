"""The fixtures of other folders, for tests that kill their engines."""

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
