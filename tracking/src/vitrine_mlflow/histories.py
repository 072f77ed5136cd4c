"""Pages and samples of the history of metrics."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from mlflow.entities import Metric, Param, Run, RunData, RunInputs, RunOutputs, RunTag
from mlflow.entities.metric import MetricWithRunId

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database, Range
from vitrine_mlflow.datasets import Datasets, models_of
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.expressions import Item
from vitrine_mlflow.metrics import Metrics, Value
from vitrine_mlflow.mlflow_api import SearchUtils, start_offset
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.table import SORT_KEY


class Histories:
    """Reads histories in the orders of MLflow's own store."""

    def __init__(self, runs: Runs, metrics: Metrics) -> None:
        self._runs = runs
        self._metrics = metrics

    def page(
        self, run_id: str, key: str, max_results: int | None, page_token: str | None
    ) -> tuple[list[Metric], bytes | None]:
        """Values by time, step and value."""
        offset = start_offset(page_token)
        # All are read: the table has them by step.
        values = sorted(self._values(run_id, key), key=_by_time)[max(offset, 0) :]
        token = None
        if max_results is not None and len(values) > max_results:
            token = SearchUtils.create_page_token(offset + max_results)
            values = values[:max_results]
        return [value.entity() for value in values], token

    def _values(self, run_id: str, key: str, steps: tuple[int, int] | None = None) -> list[Value]:
        # MLflow's own stores refuse unknown runs only where workspaces are enabled
        if not self._runs.isolated and not self._runs.exists(run_id):
            return []
        return self._metrics.history(run_id, key, steps)

    def of_runs(self, run_ids: Sequence[str], key: str, max_results: int) -> list[MetricWithRunId]:
        metrics: list[MetricWithRunId] = []
        for run_id in sorted(set(run_ids)):
            if not self._runs.exists(run_id):
                continue
            values = sorted(self._values(run_id, key), key=_by_time)
            metrics += _with_run(run_id, values[: max_results - len(metrics)])
            if len(metrics) >= max_results:
                break
        return metrics

    def max_step(self, run_id: str, key: str) -> int:
        return max((value.step for value in self._values(run_id, key)), default=0)

    def at_steps(
        self, run_id: str, key: str, steps: Sequence[int], max_results: int
    ) -> list[MetricWithRunId]:
        if not steps:
            return []
        wanted = set(steps)
        values = [
            value
            for value in self._values(run_id, key, (min(wanted), max(wanted)))
            if value.step in wanted
        ]
        return _with_run(run_id, sorted(values, key=_by_step)[:max_results])

    def sample(
        self,
        run_ids: Sequence[str],
        key: str,
        max_results: int,
        start_step: int | None,
        end_step: int | None,
    ) -> list[MetricWithRunId]:
        """Return up to `max_results` values of each run, evenly spread, first and last included."""
        if (start_step is None) != (end_step is None):
            raise invalid(
                "Both start_step and end_step must be specified together, "
                "or neither may be specified."
            )
        steps = None if start_step is None or end_step is None else (start_step, end_step)
        metrics: list[MetricWithRunId] = []
        for run_id in run_ids:
            values = sorted(self._values(run_id, key, steps), key=_by_step)
            metrics += _with_run(run_id, _spread(values, max(1, max_results)))
        return metrics


def _number(value: Value) -> tuple[float, bool]:
    is_nan = math.isnan(value.value)
    return (0.0 if is_nan else value.value), is_nan


def _by_time(value: Value) -> tuple[int, int, float, bool]:
    return value.timestamp, value.step, *_number(value)


def _by_step(value: Value) -> tuple[int, int, float, bool]:
    return value.step, value.timestamp, *_number(value)


def _spread(values: Sequence[Value], wanted: int) -> list[Value]:
    """The first value of each of `wanted` even buckets, as SQL's NTILE forms them, and the last."""
    size, larger = divmod(len(values), wanted)
    starts: list[int] = []
    position = 0
    for bucket in range(wanted):
        length = size + (bucket < larger)
        if not length:
            break
        starts.append(position)
        position += length
    chosen = [values[start] for start in starts]
    if values and chosen[-1] is not values[-1]:
        chosen[len(chosen) - (len(chosen) >= wanted) :] = [values[-1]]
    return chosen


def _with_run(run_id: str, values: Sequence[Value]) -> list[MetricWithRunId]:
    return [MetricWithRunId(metric=value.entity(), run_id=run_id) for value in values]


def read_run(database: Database, runs: Runs, datasets: Datasets, run_id: str) -> Run:
    """A run with its latest metrics, params, tags, inputs and outputs; not its history.

    Raises:
        MlflowException: there is no such run.
    """
    experiment_id = runs.experiment_of(run_id)
    items: dict[str, list[Item]] = {"": []}
    for item in _items(database, experiment_id, run_id):
        # R#<run>#<part>#…
        part = item[SORT_KEY].split("#", 3)[2:3]
        items.setdefault(part[0] if part else "", []).append(item)
    stored = runs.stored_run(run_id, items[""][0] if items[""] else None)
    models = models_of(items.get("LM", []))
    inputs: dict[str, dict[str, Any]] = {
        item[SORT_KEY].rpartition("#")[2]: item for item in items.get("INPUT", [])
    }
    return Run(
        stored.entity(),
        _data(items),
        RunInputs(
            dataset_inputs=datasets.of_inputs([(experiment_id, inputs)])[0],
            model_inputs=models[0],
        ),
        RunOutputs(models[1]),
    )


def _items(database: Database, experiment_id: str, run_id: str) -> Iterator[Item]:
    key = keys.RUN.key(experiment_id=experiment_id, run_id=run_id)
    # the history of the metrics, which may be long, sorts between these two ranges
    history = keys.METRIC_HISTORY.prefix(run_id=run_id)
    yield from database.query(key.pk, Range(key.sk, history))
    params = keys.PARAM.prefix(run_id=run_id)
    tags = Range.of_prefix(keys.TAG.prefix(run_id=run_id))
    yield from database.query(key.pk, Range(params, tags.high))


def _data(items: dict[str, list[Item]]) -> RunData:
    return RunData(
        metrics=[
            Metric(item["key"], float(item["value"]), item["timestamp"], item["step"])
            for item in items.get("METRIC", [])
        ],
        params=[Param(item["key"], item["value"]) for item in items.get("PARAM", [])],
        tags=[RunTag(item["key"], item["value"]) for item in items.get("TAG", [])],
    )
