"""Reads a whole run in two ranges of its experiment's partition."""

from collections.abc import Iterator
from typing import Any

from mlflow.entities import Metric, Param, Run, RunData, RunInputs, RunOutputs, RunTag

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database, Range
from vitrine_mlflow.datasets import Datasets, models_of
from vitrine_mlflow.expressions import Item
from vitrine_mlflow.runs import Runs
from vitrine_mlflow.table import SORT_KEY


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
