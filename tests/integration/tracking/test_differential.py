"""The store on DynamoDB replies as MLflow's own store on SQLite, for generated histories."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.amounts import amount
from tests.integration.tracking.comparison import Comparison
from tests.integration.tracking.stores import TrackingTables

HISTORIES = amount("MLFLOW_HISTORIES")
FIRST = int(os.environ.get("MLFLOW_FIRST_SEED", "0"))
_CHUNK = 10
_SEARCHES = 6  # and one of experiments, twice in each history; each with all its pages
_ANSWERED = 10  # of them at least, on average; the stores refuse the rest in the same words


@pytest.mark.parametrize("first", range(FIRST, FIRST + HISTORIES, _CHUNK))
def test_replies_and_searches_equal_those_of_the_sql_store(
    first: int,
    tracking_tables: TrackingTables,
    new_table: Callable[[], str],
    tmp_path: Path,
) -> None:
    seeds = range(first, min(first + _CHUNK, FIRST + HISTORIES))
    answered = 0
    for seed in seeds:
        database = tracking_tables.database(new_table())
        comparison = Comparison(seed, database, tmp_path)
        for _ in range(2):
            comparison.operate(10)
            comparison.search(_SEARCHES)
            comparison.search_experiments(1)
        answered += comparison.answered
    assert answered >= len(seeds) * _ANSWERED
