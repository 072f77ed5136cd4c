"""Logged models on DynamoDB reply as in MLflow's own store on SQLite."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from mlflow.entities import (
    LoggedModel,
    LoggedModelParameter,
    LoggedModelStatus,
    LoggedModelTag,
    Metric,
)
from mlflow.exceptions import MlflowException

from tests.integration.tracking.comparison import error_of
from tests.integration.tracking.histories import Call
from tests.integration.tracking.stores import Series, SqlStore, TrackingTables, dynamo_store

NAMES = ["one", "One", "näme#1", None, "a/b", ""]
FILTERS = [
    None, "name = 'one'", "name != 'one'", "name LIKE 'o%'", "name ILIKE 'O%'",
    "name IN ('one', 'One')", "params.lr = '1'", "params.lr != '1'", "tags.team = 'a'",
    "tags.team LIKE '%b%'", "metrics.loss > 1", "metrics.loss <= 1 AND name = 'one'",
    "model_type = 'm'", "source_run_id = 'r'", "creation_time > 1700000000002",
    "last_updated_timestamp >= 1700000000004", "metrics.loss LIKE 'a'", "nonsense.x = '1'",
    "name > 'a'", "name", "status = 'READY'", "status = '2'", "status != 'PENDING'",
]  # fmt: skip
ORDERS: list[list[dict[str, Any]]] = [
    [], [{"field_name": "name"}], [{"field_name": "name", "ascending": False}],
    [{"field_name": "creation_time"}], [{"field_name": "model_id", "ascending": False}],
    [{"field_name": "metrics.loss"}], [{"field_name": "metrics.loss", "ascending": False}],
    [{"field_name": "metrics.loss", "dataset_name": "d1"}], [{"field_name": "model_type"}],
    [{"field_name": "nonsense"}], [{"field_name": "params.lr"}],
]  # fmt: skip
DATASETS: list[list[dict[str, Any]] | None] = [
    None, [{"dataset_name": "d1"}], [{"dataset_name": "d1", "dataset_digest": "2"}],
    [{"dataset_name": "d1"}, {"dataset_name": "d2"}], [{"dataset_digest": "1"}],
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_logged_models_equal_those_of_the_sql_store(
    seed: int, tracking_tables: TrackingTables, new_table: Callable[[], str], tmp_path: Path
) -> None:
    both = _Both(seed, tracking_tables.database(new_table()), tmp_path)
    for _ in range(3):
        both.operate(12)
        both.search(12)


class _Both:
    """Both stores after the same operations."""

    def __init__(self, seed: int, database: Any, folder: Path) -> None:
        self._random = random.Random(seed)
        self._series = (Series(), Series())
        self._dynamo = dynamo_store(database, self._series[0])
        self._sql = SqlStore(folder / f"{seed}.db", self._series[1])
        self._number = itertools.count(1)
        self._models: list[str] = []
        self._used = itertools.count(1)
        run = self._reply(lambda store: store.create_run("0", "u", 1, [], "n").info.run_id)[0]
        self._run = run[1]

    def operate(self, times: int) -> None:
        for _ in range(times):
            call = self._random.choice([
                self._create, self._create, self._metric, self._metric, self._tags, self._params,
                self._delete_tag, self._finalize, self._delete, self._get,
            ])()  # fmt: skip
            number = next(self._number)
            for series in self._series:
                series.milliseconds += 1
                series.numbers = itertools.count(number * 1_000)
            ours, theirs = self._reply(call)
            assert ours == theirs, f"{call.__qualname__} {ours} <> {theirs}"
            if ours[0] == "reply" and isinstance(ours[1], dict) and "model_id" in ours[1]:
                self._models = sorted({*self._models, ours[1]["model_id"]})

    def search(self, times: int) -> None:
        for _ in range(times):
            query: dict[str, Any] = {
                "experiment_ids": self._random.choice([["0"], [], ["0", "1"]]),
                "filter_string": self._random.choice(FILTERS),
                "order_by": self._random.choice(ORDERS),
                "datasets": self._random.choice(DATASETS),
                "max_results": self._random.choice([1, 2, None]),
            }
            token = None
            for _ in range(20):
                ours, theirs = self._reply(_search(query, token))
                assert ours == theirs, f"{query} {ours} <> {theirs}"
                token = ours[2] if ours[0] == "page" else None
                if token is None:
                    break

    def _reply(self, call: Call) -> tuple[Any, Any]:
        ours = _outcome(self._dynamo, call)
        with self._sql.injected():
            return ours, _outcome(self._sql.store, call)

    def _model(self) -> str:
        if not self._models or self._random.random() < 0.05:
            return "m-missing"
        return self._random.choice(self._models)

    def _create(self) -> Call:
        name, kind = self._random.choice(NAMES), self._random.choice(["m", None])
        run = self._random.choice(["r", None])
        run = None if run is None else self._run
        tags = [LoggedModelTag("team", self._random.choice(["a", "b#", "ü"]))]
        params = [LoggedModelParameter("lr", self._random.choice(["1", "2"]))]
        experiment = self._random.choice(["0", "0", "0", "9"])
        return lambda store: store.create_logged_model(experiment, name, run, tags, params, kind)

    def _metric(self) -> Call:
        model = self._model() if self._random.random() < 0.8 else None
        value = self._random.choice([0.5, 1.0, 2.0, float("inf"), float("nan")])
        dataset = self._random.choice([(None, None), ("d1", "1"), ("d1", "2"), ("d2", "1")])
        metric = Metric(
            "loss", value, self._random.randrange(3), next(self._used),
            model_id=model, dataset_name=dataset[0], dataset_digest=dataset[1],
        )  # fmt: skip
        # Difference.BATCHES_WITH_MODELS
        if model == "m-missing" or self._random.random() < 0.5:
            return lambda store: store.log_metric(self._run, metric)
        return lambda store: store.log_batch(self._run, [metric], [], [])

    def _tags(self) -> Call:
        model = self._model()
        tags = [LoggedModelTag(key, "x") for key in self._random.sample(["team", "k#", "ü"], 2)]
        return lambda store: store.set_logged_model_tags(model, tags)

    def _params(self) -> Call:
        model, key = self._model(), self._random.choice(["p1", "p2", "p3", "lr"])
        params = [LoggedModelParameter(key, "v")]
        return lambda store: store.log_logged_model_params(model, params)

    def _delete_tag(self) -> Call:
        model, key = self._model(), self._random.choice(["team", "none"])
        return lambda store: store.delete_logged_model_tag(model, key)

    def _finalize(self) -> Call:
        model = self._model()
        status = self._random.choice([LoggedModelStatus.READY, LoggedModelStatus.FAILED])
        return lambda store: store.finalize_logged_model(model, status)

    def _delete(self) -> Call:
        model = self._model()
        return lambda store: store.delete_logged_model(model)

    def _get(self) -> Call:
        model, allowed = self._model(), self._random.random() < 0.5
        return lambda store: store.get_logged_model(model, allow_deleted=allowed)


def _search(query: dict[str, Any], token: str | None) -> Call:
    return lambda store: store.search_logged_models(**query, page_token=token)


def _outcome(store: Any, call: Call) -> tuple[Any, ...]:
    try:
        reply = call(store)
    except MlflowException as error:
        return "error", error_of(error), None
    if isinstance(reply, LoggedModel):
        return "reply", _plain(reply), None
    if isinstance(reply, list):
        page = cast("list[LoggedModel]", reply)
        return "page", [_plain(one) for one in page], getattr(page, "token", None)
    return "reply", reply, None


def _plain(model: LoggedModel) -> dict[str, Any]:
    found = model.to_dictionary()
    # Difference.ORDER
    found["metrics"] = sorted(map(str, found["metrics"] or []))
    return found


def test_a_model_that_was_removed_for_good_leaves_nothing(
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
