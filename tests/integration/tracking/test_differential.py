"""The store on DynamoDB replies as MLflow's own store on SQLite, for generated histories."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest
from mlflow.entities import LoggedModel, Metric, Trace, TraceInfo
from mlflow.entities.trace_status import TraceStatus
from mlflow.exceptions import MlflowException, MlflowTracingException
from sqlalchemy import text
from vitrine_mlflow.database import Database

from tests.amounts import amount
from tests.integration.tracking.comparison import Comparison, error_of
from tests.integration.tracking.histories import Call
from tests.integration.tracking.logged_model_histories import LoggedModelHistory
from tests.integration.tracking.stores import (
    HISTORIES,
    Series,
    SqlStore,
    TrackingTables,
    dynamo_store,
    seed_of,
)
from tests.integration.tracking.trace_histories import TraceHistory

RUN_HISTORIES = amount("MLFLOW_HISTORIES")
FIRST = int(os.environ.get("MLFLOW_FIRST_SEED", "0"))
_CHUNK = 10
_SEARCHES = 6  # and one of experiments, twice in each history; each with all its pages
_ANSWERED = 10  # of them at least, on average; the stores refuse the rest in the same words


@pytest.mark.parametrize("first", range(FIRST, FIRST + RUN_HISTORIES, _CHUNK))
def test_replies_and_searches_equal_those_of_the_sql_store(
    first: int,
    tracking_tables: TrackingTables,
    new_table: Callable[[], str],
    tmp_path: Path,
) -> None:
    seeds = range(first, min(first + _CHUNK, FIRST + RUN_HISTORIES))
    answered = 0
    for seed in seeds:
        comparison = Comparison(seed, tracking_tables.database(new_table()), tmp_path)
        for _ in range(2):
            comparison.operate(10)
            comparison.search(_SEARCHES)
            comparison.search_experiments(1)
        answered += comparison.answered
    assert answered >= len(seeds) * _ANSWERED


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


def test_traces_of_clients_2_equal_those_of_the_sql_store(table: Database, tmp_path: Path) -> None:
    ours = dynamo_store(table, Series())
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


_LINKS_OF_NO_TRACE = """
    DELETE FROM entity_associations
    WHERE source_type = 'trace' AND source_id NOT IN (SELECT request_id FROM trace_info)
"""
TRACE_HISTORIES = amount("MLFLOW_TRACE_HISTORIES")


@pytest.mark.parametrize("seed", range(TRACE_HISTORIES))
def test_traces_equal_those_of_the_sql_store(seed: int, table: Database, tmp_path: Path) -> None:
    both = _BothStores(seed, table, tmp_path)
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


@pytest.mark.parametrize("number", range(HISTORIES))
def test_logged_models_equal_those_of_the_sql_store(
    number: int, table: Database, tmp_path: Path
) -> None:
    both = _ModelStores(seed_of(number), table, tmp_path)
    for _ in range(3):
        both.operate(14)
        both.search(12)


class _ModelStores:
    """Both stores after the same operations."""

    def __init__(self, seed: int, database: Any, folder: Path) -> None:
        self._seed = seed
        self._series = (Series(), Series())
        self._dynamo = dynamo_store(database, self._series[0])
        self._sql = SqlStore(folder / "one.db", self._series[1])
        self._number = itertools.count(1)
        for name in ("second", "third"):
            self._reply(lambda store, name=name: store.create_experiment(name))
            for series in self._series:
                series.experiments += 1
        self._reply(lambda store: store.delete_experiment("2"))
        runs = [self._reply(_new_run)[0][1] for _ in range(2)]
        self._history = LoggedModelHistory(seed, runs)

    def operate(self, times: int) -> None:
        for _ in range(times):
            call = self._history.operation()
            number = next(self._number)
            passed = self._history.random.randrange(2)
            for series in self._series:
                series.milliseconds += passed
                series.numbers = itertools.count(number * 1_000)
            ours, theirs = self._reply(call)
            assert ours == theirs, f"seed {self._seed}: {call.__qualname__}: {ours} <> {theirs}"
            if ours[0] == "reply" and isinstance(ours[1], dict):
                known = self._history.models
                known += [ours[1]["model_id"]] * (ours[1]["model_id"] not in known)

    def search(self, times: int) -> None:
        for _ in range(times):
            query = self._history.query()
            token = None
            for _ in range(20):
                ours, theirs = self._reply(_search_models(query, token))
                assert ours == theirs, f"seed {self._seed}: {query}: {ours} <> {theirs}"
                token = ours[2] if ours[0] == "page" else None
                if token is None:
                    break

    def _reply(self, call: Call) -> tuple[Any, Any]:
        ours = _model_outcome(self._dynamo, call)
        with self._sql.inject():
            return ours, _model_outcome(self._sql.store, call)


def _new_run(store: Any) -> str:
    return store.create_run("0", "u", 1, [], "n").info.run_id


def _search_models(query: dict[str, Any], token: str | None) -> Call:
    return lambda store: store.search_logged_models(**query, page_token=token)


def _model_outcome(store: Any, call: Call) -> tuple[Any, ...]:
    try:
        reply = call(store)
    except MlflowException as error:
        return "error", error_of(error), None
    if isinstance(reply, LoggedModel):
        return "reply", _plain_model(reply), None
    if hasattr(reply, "token"):
        page = cast("list[LoggedModel]", reply)
        return "page", [_plain_model(entry) for entry in page], reply.token
    return "reply", reply, None


def _plain_model(model: LoggedModel) -> dict[str, Any]:
    fields = model.to_dictionary()
    # Difference.ORDER
    fields["metrics"] = sorted(map(str, fields["metrics"] or []))
    return fields


def test_a_model_that_was_removed_permanently_leaves_nothing(table: Database) -> None:
    store = dynamo_store(table, Series())
    run_id = store.create_run("0", "u", 1, [], "n").info.run_id
    model = store.create_logged_model("0", "m", run_id)
    store.log_metric(run_id, Metric("loss", 1.0, 1, 1, model_id=model.model_id))
    other = Metric("other", 1.0, 1, 1, model_id="m-other")
    with pytest.raises(MlflowException, match="not found"):
        store.log_batch(run_id, [other], [], [])
    assert "other" not in store.get_run(run_id).data.metrics
    store.delete_logged_model(model.model_id)
    hooks: Any = store
    assert hooks._get_deleted_logged_models() == [model.model_id]
    hooks._hard_delete_logged_model(model.model_id)
    with pytest.raises(MlflowException, match="not found"):
        store.get_logged_model(model.model_id, allow_deleted=True)
    assert not [item for item in table.query("EXP#0") if item["SK"].startswith("LMODEL#")]
