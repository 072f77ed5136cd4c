"""Search over the runs of experiments."""

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cmp_to_key
from itertools import islice
from typing import Any, NamedTuple

from mlflow.entities import (
    LoggedModelOutput,
    Metric,
    Param,
    Run,
    RunData,
    RunInputs,
    RunOutputs,
    RunTag,
)
from mlflow.exceptions import MlflowException

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.datasets import Datasets
from vitrine_mlflow.experiment_items import RUN_NAMES_INDEXED
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.expressions import Item
from vitrine_mlflow.mlflow_api import (
    MLFLOW_DATASET_CONTEXT,
    SearchUtils,
    dataset_summary,
    parsed_experiment_id,
    stages_of,
    validated_max_results,
)
from vitrine_mlflow.search.orders import make_token, parse_order, parse_token
from vitrine_mlflow.search.plans import Plan, Query
from vitrine_mlflow.search.predicates import Candidate, predicates_of
from vitrine_mlflow.search.reading import RunReader, load_summaries
from vitrine_mlflow.summaries import Summary
from vitrine_mlflow.table import INFO

# Without `max_results` MLflow's own store returns all runs.
_ALL = 1 << 30


class _Known(NamedTuple):
    """The indexes that contain the runs of an experiment."""

    primary: str | None
    names_indexed: bool


class RunSearch:
    """Finds runs by filter and order."""

    def __init__(self, context: Context, datasets: Datasets) -> None:
        self._context = context
        self._database = context.owned_database
        self._datasets = datasets
        self._known: dict[str, _Known] = {}  # of experiments; never change once there is a metric

    def search(
        self,
        experiment_ids: Sequence[str],
        filter_string: str | None,
        view: Any,
        max_results: int | None,
        order_by: Sequence[str] | None,
        page_token: str | None,
    ) -> tuple[list[Run], bytes | None]:
        """One page of runs, and the token of the next."""
        validated_max_results(max_results, allow_none=True)
        stages = frozenset(stages_of(view))
        # the order of the checks is MLflow's: the first that fails gives the error
        parsed_filter = SearchUtils.parse_search_filter(filter_string)
        order = parse_order(order_by)
        predicates = predicates_of(parsed_filter)
        position = parse_token(page_token, order)
        wanted = [str(parsed_experiment_id(experiment_id)) for experiment_id in experiment_ids]
        size = max_results or _ALL
        query = Query(predicates, order, stages, min(size, 10_000), position, None, False)
        results = self._merge_experiments(list(dict.fromkeys(wanted)), query)
        page = list(islice(results, position.skip, position.skip + size))
        more = len(page) == size and next(results, None) is not None
        token = make_token(page[-1], position.offset + size) if more else None
        return self._entities(page), token

    def _merge_experiments(
        self, experiment_ids: Sequence[str], query: Query
    ) -> Iterator[Candidate]:
        sources = [
            Plan(
                RunReader(self._database, experiment_id),
                replace(query, primary=known.primary, names_indexed=known.names_indexed),
            ).results()
            for experiment_id, known in self._visible(experiment_ids).items()
        ]
        if len(sources) == 1:
            return sources[0]
        return heapq.merge(*sources, key=cmp_to_key(query.order.compare))

    def _visible(self, experiment_ids: Sequence[str]) -> dict[str, "_Known"]:
        """Experiments of the workspace, each with what indexes its runs."""
        if self._context.isolation is not None:
            self._known.clear()  # experiments may move to another workspace
        unknown = {
            keys.EXPERIMENT.key(experiment_id=experiment_id): experiment_id
            for experiment_id in experiment_ids
            if experiment_id not in self._known
        }
        visible: dict[str, _Known] = {}
        for key, item in (self._database.get_many(unknown) if unknown else {}).items():
            if item[INFO]["workspace"] == self._context.workspace:
                known = _Known(item.get("primary"), RUN_NAMES_INDEXED in item)
                visible[unknown[key]] = known
                if known.primary is not None:
                    self._known[unknown[key]] = known
        return visible | {
            experiment_id: self._known[experiment_id]
            for experiment_id in experiment_ids
            if experiment_id in self._known
        }

    def _entities(self, page: Sequence[Candidate]) -> list[Run]:
        load_summaries(self._database, page)
        inputs = self._datasets.of_inputs(
            (candidate.run.experiment_id, candidate.read_summary.inputs) for candidate in page
        )
        return [
            Run(
                candidate.run.entity(),
                data_of(candidate.read_summary),
                RunInputs(dataset_inputs=used),
                RunOutputs(
                    [
                        LoggedModelOutput(model_id, step)
                        for model_id, step in candidate.read_summary.outputs.items()
                    ]
                ),
            )
            for candidate, used in zip(page, inputs, strict=True)
        ]


def data_of(summary: Summary) -> RunData:
    return RunData(
        metrics=[
            Metric(key, value, timestamp, step)
            for key, (value, timestamp, step) in summary.metrics.items()
        ],
        params=[Param(key, value) for key, value in summary.params.items()],
        tags=[RunTag(key, value) for key, value in summary.tags.items()],
    )


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
