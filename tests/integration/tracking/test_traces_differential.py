"""Traces on DynamoDB reply as in MLflow's own store on SQLite, for generated histories."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest
from mlflow.entities import Trace, TraceInfo
from mlflow.exceptions import MlflowException, MlflowTracingException
from sqlalchemy import text

from tests.amounts import amount
from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.histories import Call
from tests.integration.tracking.stores import Series, SqlStore, TrackingTables, dynamo_store
from tests.integration.tracking.trace_histories import TraceHistory

_LINKS_OF_NO_TRACE = """
    DELETE FROM entity_associations
    WHERE source_type = 'trace' AND source_id NOT IN (SELECT request_id FROM trace_info)
"""
HISTORIES = amount("MLFLOW_TRACE_HISTORIES")


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_traces_equal_those_of_the_sql_store(
    seed: int, tracking_tables: TrackingTables, new_table: Callable[[], str], tmp_path: Path
) -> None:
    both = _BothStores(seed, tracking_tables.database(new_table()), tmp_path)
    for _ in range(4):
        both.operate(15)
        both.search(10)
        both.aggregate(10)


class _BothStores:
    """Both stores after the same operations."""

    def __init__(self, seed: int, database: Any, folder: Path) -> None:
        self.history = TraceHistory(seed)
        self._series = (Series(), Series())
        self.dynamo = dynamo_store(database, self._series[0])
        self.sql = SqlStore(folder / f"{seed}.db", self._series[1])
        self._number = itertools.count(1)
        self._reply(lambda store: store.create_experiment("other", None, []))

    def operate(self, times: int) -> None:
        for _ in range(times):
            name, call = self.history.operation()
            number = next(self._number)
            for series in self._series:
                series.milliseconds += 1
                series.numbers = itertools.count(number * 1_000)
            ours, theirs = self._reply(call)
            assert ours == theirs, f"seed {self.history.seed}: {name}: {ours} <> {theirs}"
            if name == "delete_traces":  # Difference.LINKS_OF_A_TRACE
                with self.sql.store.engine.begin() as connection:
                    connection.execute(text(_LINKS_OF_NO_TRACE))

    def search(self, times: int) -> None:
        for _ in range(times):
            query = self.history.query()
            tokens: tuple[Any, Any] = (None, None)
            for _ in range(30):
                ours, theirs = self._reply(*(_search(query, token) for token in tokens))
                assert ours[:2] == theirs[:2], (
                    f"seed {self.history.seed}: {query} {ours} <> {theirs}"
                )
                tokens = (ours[2], theirs[2])
                assert bool(tokens[0]) == bool(tokens[1]), query
                if not tokens[0]:
                    break

    def aggregate(self, times: int) -> None:
        """Compare metrics over traces."""
        for _ in range(times):
            query = self.history.metric_query()
            ours, theirs = self._reply(
                lambda store, query=query: store.query_trace_metrics(**query)
            )
            assert ours == theirs, f"seed {self.history.seed}: {query} {ours} <> {theirs}"

    def _reply(self, call: Call, other: Call | None = None) -> tuple[Any, Any]:
        ours = _outcome(self.dynamo, call)
        with self.sql.inject():
            return ours, _outcome(self.sql.store, other or call)


def _search(query: dict[str, Any], token: Any) -> Call:
    return lambda store: store.search_traces(**query, page_token=token)


def _outcome(store: Any, call: Call) -> tuple[Any, ...]:
    try:
        with mock.patch("time.sleep"):
            reply = call(store)
    except (MlflowException, MlflowTracingException) as error:
        return "error", error_of(error), None
    if isinstance(reply, tuple):
        traces, token = cast("tuple[list[TraceInfo], str | None]", reply)
        return "page", [_plain(trace) for trace in traces], token
    return "reply", _plain(reply), None


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(member) for member in cast("list[Any]", value)]
    if isinstance(value, TraceInfo):
        fields = value.to_dict()
        # Difference.ORDER
        fields["assessments"] = sorted(
            fields.get("assessments", []), key=lambda assessment: assessment["assessment_id"]
        )
        return fields
    if isinstance(value, Trace):
        return _plain(value.info), [span.to_dict() for span in value.data.spans]
    return value.to_dictionary() if hasattr(value, "to_dictionary") else value
