"""Traces as clients 2.x start and end them, on DynamoDB and in MLflow's own store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow.entities.trace_status import TraceStatus
from mlflow.exceptions import MlflowException

from tests.integration.tracking.stores import Series, SqlStore, TrackingTables, dynamo_store

_USAGE = '{"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}'


def _shown(info: Any) -> dict[str, Any]:
    """A trace without its id, which each store chooses."""
    shown = info.to_dict()
    own_id: str = shown.pop("request_id")
    assert own_id
    return {
        **shown,
        "request_metadata": dict(sorted(shown["request_metadata"].items())),
        "tags": {key: value.replace(own_id, "ID") for key, value in sorted(shown["tags"].items())},
    }


def _replies(store: Any) -> list[Any]:
    started = store.deprecated_start_trace_v2(
        "0", 1_000, {"a": "1", "mlflow.trace.session": "s"}, {"mlflow.traceName": "n", "t": "1"}
    )
    ended = store.deprecated_end_trace_v2(
        started.request_id, 1_500, TraceStatus.ERROR,
        {"a": "2", "b": "3", "mlflow.trace.tokenUsage": _USAGE},
        {"t": "2", "mlflow.traceName": "m"},
    )  # fmt: skip
    read = store.get_trace_info(started.request_id)
    traces, _ = store.search_traces(["0"], filter_string="tags.t = '2' AND name = 'm'")
    return [
        _shown(started), _shown(ended), read.state, read.execution_duration, read.trace_metadata,
        [trace.trace_id == started.request_id for trace in traces],
    ]  # fmt: skip


def test_traces_of_clients_2_equal_those_of_the_sql_store(
    tracking_tables: TrackingTables, new_table: Callable[[], str], tmp_path: Path
) -> None:
    ours = dynamo_store(tracking_tables.database(new_table()), Series())
    theirs = SqlStore(tmp_path / "sql.db", Series()).store
    assert _replies(ours) == _replies(theirs)
    for store in (ours, theirs):
        for call in (
            lambda store=store: store.deprecated_start_trace_v2("77", 1, {}, {}),
            lambda store=store: store.deprecated_end_trace_v2("none", 1, TraceStatus.OK, {}, {}),
        ):
            with pytest.raises(MlflowException) as refused:
                call()
            assert refused.value.error_code == "RESOURCE_DOES_NOT_EXIST"
