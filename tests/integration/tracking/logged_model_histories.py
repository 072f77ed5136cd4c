"""Generated operations on logged models and the metrics that runs log for them."""

import itertools
import random
from collections.abc import Callable
from typing import Any

from mlflow.entities import (
    LoggedModelParameter,
    LoggedModelStatus,
    LoggedModelTag,
    Metric,
)

from tests.integration.tracking.histories import Call

NAMES = ["one", "One", "näme#1", None, "two", "50%"]
ODD_NAMES = ["a/b", "", " ", "a:b", "a.b", "日本😀", "n" * 300]
TEXTS = ["a", "b#", "ü", "", "A", "x" * 3_000]
KEYS = ["lr", "a#b", "ü", "x.y", "Lr"]
VALUES = [0.5, 1.0, 2.0, -1.0, 0.0, float("inf"), float("-inf"), float("nan"), 1e-320]
DATASETS = [(None, None), ("d1", "1"), ("d1", "2"), ("d2", "1")]
CONDITIONS = [
    "name = 'one'", "name != 'one'", "name LIKE 'o%'", "name ILIKE 'O%'", "name like '%n%'",
    "name IN ('one', 'One')", "name NOT IN ('one', 'two')", "name IN ('one')",
    "params.lr = '1'", "params.lr != 'a'", "params.`x.y` LIKE '%'", "params.lr IN ('a', 'b#')",
    "params.lr ILIKE 'A'", "params.lr NOT IN ('a', 'A')", "params.`a#b` = ''",
    "tags.team = 'a'", "tags.team LIKE '%b%'", "tags.lr != 'a'", "tags.`a#b` NOT IN ('a', 'x')",
    "metrics.loss > 1", "metrics.loss <= 1", "metrics.loss != 0.5", "metrics.loss = 0.5",
    "metrics.loss < 1e308", "metrics.loss >= -1e400", "metrics.`a/b` > 0", "metrics.loss = 0",
    "model_type = 'm'", "model_type != 'm'", "source_run_id = 'r'", "source_run_id != 'r'",
    "creation_time > 1700000000002", "last_updated_timestamp >= 1700000000004",
    "creation_timestamp < 1700000000030", "creation_timestamp_ms != 1700000000003",
    "status = 'READY'", "status = '2'", "status != 'PENDING'", "lifecycle_stage = 'active'",
    "lifecycle_stage = 'deleted'", "experiment_id = '0'", "experiment_id = 0", "model_id != 'm-1'",
    "artifact_location LIKE '%models%'", "attributes.name = 'one'", "status_message = 'x'",
]  # fmt: skip
ODD_CONDITIONS = [
    "metrics.loss LIKE 'a'", "nonsense.x = '1'", "name > 'a'", "name", "metrics.loss > nan",
    "metrics.loss != nan", "metrics.loss > abc", "nothing = 'x'", "name = 'a' OR name = 'b'",
    "name IN (", "name IN ('a', b)", "params.lr > 1", "creation_time = 'x'", "name =", "",
    "name = \"one\"", "tags.team IS NULL", "name RLIKE 'o'", "metrics.loss IN (1, 2)",
    "name IN ()", "name IN (1, 2)", "metrics. > 1", "params.`` = 'a'",
]  # fmt: skip
FIELDS = [
    "name", "creation_time", "creation_timestamp", "last_updated_timestamp", "model_id",
    "model_type", "source_run_id", "status", "experiment_id", "artifact_location",
    "metrics.loss", "metrics.loss", "metrics.a/b", "metrics.none", "lifecycle_stage",
    "status_message", "last_updated_timestamp_ms",
]  # fmt: skip
ODD_FIELDS = ["nonsense", "params.lr", "tags.team", "", "metrics.", "Name"]


class LoggedModelHistory:
    """Draws operations and searches; the caller stores ids of models."""

    def __init__(self, seed: int, runs: list[str]) -> None:
        self.random = random.Random(seed)
        self.models: list[str] = []
        self._runs = runs
        self._used = itertools.count(1)

    def pick(self, choices: Any) -> Any:
        return self.random.choice(choices)

    def _draw(self, usual: list[Any], odd: list[Any]) -> Any:
        return self.pick(odd if self.random.random() < 0.06 else usual)

    def operation(self) -> Call:
        drawn: list[Callable[[], Call]] = [
            self._create, self._create, self._create, self._metric, self._metric, self._metric,
            self._batch, self._tags, self._params, self._delete_tag, self._finalize, self._delete,
            self._get, self._used_by_run,
        ]  # fmt: skip
        return self.pick(drawn)()

    def _model(self) -> str:
        if not self.models or self.random.random() < 0.05:
            return self.pick(["m-missing", ""])
        return self.pick(self.models[-6:])

    def _entries(self, kind: type) -> Any:
        count = self.pick([None, 0, 1, 2, 2])
        if count is None:
            return None
        # the same key twice violates SQL's primary key
        keys = self.random.sample([*KEYS, "team"], count)
        return [kind(key, self.pick(TEXTS)) for key in keys]

    def _create(self) -> Call:
        name = self._draw(NAMES, ODD_NAMES)
        run = self._draw([None, *self._runs], ["absent", ""])
        tags, params = self._entries(LoggedModelTag), self._entries(LoggedModelParameter)
        kind = self.pick(["m", None, ""])
        experiment = self._draw(["0", "0", "1"], ["9", "x", "2"])
        return lambda store: store.create_logged_model(experiment, name, run, tags, params, kind)

    def _value(self) -> Metric:
        dataset = self.pick(DATASETS)
        return Metric(
            self.pick(["loss", "loss", "a/b", "x"]), self.pick(VALUES),
            self.pick([next(self._used), next(self._used), 1, -5]), self.random.randrange(3),
            model_id=self._model() if self.random.random() < 0.85 else None,
            dataset_name=dataset[0], dataset_digest=dataset[1],
        )  # fmt: skip

    def _metric(self) -> Call:
        run, metric = self.pick(self._runs), self._value()
        return lambda store: store.log_metric(run, metric)

    def _batch(self) -> Call:
        # Difference.BATCHES_WITH_MODELS: one that is refused
        run, number = self.pick(self._runs), next(self._used)
        model = self.pick(self.models) if self.models else None
        metrics = [
            Metric(key, self.pick(VALUES), number, number, model_id=model)
            for key in self.random.sample(["loss", "a/b", "x"], self.pick([1, 2, 3]))
        ]
        return lambda store: store.log_batch(run, metrics, [], [])

    def _tags(self) -> Call:
        model = self._model()
        tags: list[Any] = self._entries(LoggedModelTag) or []
        return lambda store: store.set_logged_model_tags(model, [*tags, *tags[:1]])

    def _params(self) -> Call:
        model = self._model()
        params = [LoggedModelParameter(self.pick([*KEYS, "p1", "p2", "p3"]), self.pick(TEXTS))]
        return lambda store: store.log_logged_model_params(model, params)

    def _delete_tag(self) -> Call:
        model, key = self._model(), self.pick(["team", "none", *KEYS])
        return lambda store: store.delete_logged_model_tag(model, key)

    def _finalize(self) -> Call:
        model, status = self._model(), self.pick(list(LoggedModelStatus))
        return lambda store: store.finalize_logged_model(model, status)

    def _delete(self) -> Call:
        model = self._model()
        return lambda store: store.delete_logged_model(model)

    def _get(self) -> Call:
        model, allowed = self._model(), self.random.random() < 0.5
        return lambda store: store.get_logged_model(model, allow_deleted=allowed)

    def _used_by_run(self) -> Call:
        return lambda store: sorted(store._get_deleted_logged_models())

    def query(self) -> dict[str, Any]:
        count = self.pick([0, 1, 1, 2, 3])
        conditions = [self._draw(CONDITIONS, ODD_CONDITIONS) for _ in range(count)]
        return {
            "experiment_ids": self._draw(
                [["0"], ["0", "1"], ["1"]], [[], ["0", "0"], ["x"], ["9"]]
            ),
            "filter_string": " AND ".join(conditions) if conditions else self.pick([None, ""]),
            "order_by": self._order(),
            "datasets": self._draw(
                [None, None, [], *self._datasets()], [[{"dataset_digest": "1"}]]
            ),
            "max_results": self._draw([1, 2, 3, None], [0, -1, -3]),
        }

    def _datasets(self) -> list[list[dict[str, Any]]]:
        return [
            [{"dataset_name": "d1"}], [{"dataset_name": "d1", "dataset_digest": "2"}],
            [{"dataset_name": "d1"}, {"dataset_name": "d2"}],
            [{"dataset_name": "d1", "dataset_digest": None}], [{"dataset_name": "none"}],
        ]  # fmt: skip

    def _order(self) -> list[dict[str, Any]] | None:
        orders: list[dict[str, Any]] = []
        for _ in range(self.pick([0, 1, 1, 2, 3])):
            order: dict[str, Any] = {"field_name": self._draw(FIELDS, ODD_FIELDS)}
            if self.random.random() < 0.6:
                order["ascending"] = self.pick([True, False])
            if self.random.random() < 0.3:
                order["dataset_name"], order["dataset_digest"] = self.pick(DATASETS)
            orders.append(order)
        return orders or self.pick([None, []])
