"""The datasets that runs of experiments used, as the UI lists them."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from mlflow.exceptions import MlflowException

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import Item
from vitrine_mlflow.mlflow_api import MLFLOW_DATASET_CONTEXT, dataset_summary

_MOST = 1_000  # as MLflow's own store returns


def search_datasets(
    database: Database, experiments: Experiments, experiment_ids: Iterable[str]
) -> list[Any]:
    """Datasets by experiment, name, digest and context; reading ends when there are 1,000."""
    datasets: dict[tuple[str, str, str, str | None], None] = {}
    for experiment_id in experiment_ids:
        for item in _links(database, experiments, experiment_id):
            if len(datasets) >= _MOST:
                break
            datasets[experiment_id, item["name"], item["digest"], _context(item)] = None
    return [dataset_summary(*dataset) for dataset in datasets]


def _links(database: Database, experiments: Experiments, experiment_id: str) -> Iterator[Item]:
    try:
        stored = experiments.find(experiment_id)
    except MlflowException:
        return iter(())  # MLflow ignores experiments that do not exist
    pk = keys.EXPERIMENT.key(experiment_id=stored.experiment_id).pk
    return database.query_prefix(pk, keys.DATASET_LINK.prefix())


def _context(item: Item) -> str | None:
    tags: list[list[str]] = json.loads(item.get("tags", "[]"))
    return next((value for key, value in tags if key == MLFLOW_DATASET_CONTEXT), None)
