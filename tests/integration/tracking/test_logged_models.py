"""Logged models on DynamoDB reply as in MLflow's own store on SQLite."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from mlflow.entities import LoggedModel, Metric
from mlflow.exceptions import MlflowException

from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.histories import Call
from tests.integration.tracking.logged_model_histories import LoggedModelHistory
from tests.integration.tracking.seeds import HISTORIES, seed_of
from tests.integration.tracking.stores import Series, SqlStore, TrackingTables, dynamo_store


@pytest.mark.parametrize("number", range(HISTORIES))
def test_logged_models_equal_those_of_the_sql_store(
    number: int, tracking_tables: TrackingTables, new_table: Callable[[], str], tmp_path: Path
) -> None:
    both = _BothStores(seed_of(number), tracking_tables.database(new_table()), tmp_path)
    for _ in range(3):
        both.operate(14)
        both.search(12)


class _BothStores:
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
                ours, theirs = self._reply(_search(query, token))
                assert ours == theirs, f"seed {self._seed}: {query}: {ours} <> {theirs}"
                token = ours[2] if ours[0] == "page" else None
                if token is None:
                    break

    def _reply(self, call: Call) -> tuple[Any, Any]:
        ours = _outcome(self._dynamo, call)
        with self._sql.inject():
            return ours, _outcome(self._sql.store, call)


def _new_run(store: Any) -> str:
    return store.create_run("0", "u", 1, [], "n").info.run_id


def _search(query: dict[str, Any], token: str | None) -> Call:
    return lambda store: store.search_logged_models(**query, page_token=token)


def _outcome(store: Any, call: Call) -> tuple[Any, ...]:
    try:
        reply = call(store)
    except MlflowException as error:
        return "error", error_of(error), None
    if isinstance(reply, LoggedModel):
        return "reply", _plain(reply), None
    if hasattr(reply, "token"):
        page = cast("list[LoggedModel]", reply)
        return "page", [_plain(entry) for entry in page], reply.token
    return "reply", reply, None


def _plain(model: LoggedModel) -> dict[str, Any]:
    fields = model.to_dictionary()
    # Difference.ORDER
    fields["metrics"] = sorted(map(str, fields["metrics"] or []))
    return fields


def test_a_model_that_was_removed_permanently_leaves_nothing(
    tracking_tables: TrackingTables, new_table: Callable[[], str]
) -> None:
    table = tracking_tables.database(new_table())
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
