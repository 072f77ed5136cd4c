"""The store on DynamoDB replies as MLflow's own store on SQLite, for generated histories."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.tracking.comparison import Comparison
from tests.integration.tracking.stores import TrackingTables

HISTORIES = int(os.environ.get("MLFLOW_HISTORIES", "10"))
_CHUNK = 10


@pytest.mark.parametrize("first", range(0, HISTORIES, _CHUNK))
def test_replies_and_searches_equal_those_of_the_sql_store(
    first: int,
    tracking_tables: TrackingTables,
    new_table: Callable[[], str],
    tmp_path: Path,
) -> None:
    queries = 0
    for seed in range(first, min(first + _CHUNK, HISTORIES)):
        database = tracking_tables.database(new_table())
        comparison = Comparison(seed, database, tmp_path)
        for _ in range(2):
            comparison.operate(10)
            comparison.search(3)
            comparison.search_experiments(1)
        queries += comparison.queries
    assert queries >= _CHUNK * 6
