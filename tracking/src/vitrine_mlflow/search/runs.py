"""Search over the runs of experiments."""

import heapq
from collections.abc import Iterator, Sequence
from functools import cmp_to_key
from itertools import islice
from typing import Any

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

from vitrine_mlflow import keys
from vitrine_mlflow.context import Context
from vitrine_mlflow.datasets import Datasets
from vitrine_mlflow.mlflow_api import parsed_experiment_id, stages_of, validated_max_results
from vitrine_mlflow.search.orders import make_token, parse_order, parse_token
from vitrine_mlflow.search.plans import Plan, Query
from vitrine_mlflow.search.predicates import Candidate, parse_filter
from vitrine_mlflow.search.reading import RunReader, load_summaries
from vitrine_mlflow.summaries import Summary
from vitrine_mlflow.table import INFO

_ALL = 1 << 30


class RunSearch:
    """Finds runs by filter and order."""

    def __init__(self, context: Context, datasets: Datasets) -> None:
        self._context = context
        self._database = context.database
        self._datasets = datasets
        self._primaries: dict[str, str] = {}  # of experiments; never change

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
        predicates = parse_filter(filter_string)
        order = parse_order(order_by)
        position = parse_token(page_token)
        wanted = [str(parsed_experiment_id(one)) for one in experiment_ids]
        size = max_results or _ALL
        query = Query(predicates, order, stages, min(size, 10_000), position, None)
        results = self._merged(list(dict.fromkeys(wanted)), query)
        page = list(islice(results, position.skip, position.skip + size))
        more = len(page) == size and next(results, None) is not None
        token = make_token(page[-1], position.offset + size) if more else None
        return self._entities(page), token

    def _merged(self, experiment_ids: Sequence[str], query: Query) -> Iterator[Candidate]:
        primaries = self._visible(experiment_ids)
        sources = [
            Plan(
                RunReader(self._database, experiment_id),
                Query(
                    query.predicates, query.order, query.stages, query.page, query.position, primary
                ),
            ).results()
            for experiment_id, primary in primaries.items()
        ]
        if len(sources) == 1:
            return sources[0]
        return heapq.merge(*sources, key=cmp_to_key(query.order.compare))

    def _visible(self, experiment_ids: Sequence[str]) -> dict[str, str | None]:
        """Experiments of the workspace, each with its primary metric."""
        if self._context.isolation is not None:
            self._primaries.clear()  # experiments may move to another workspace
        unknown = {
            keys.EXPERIMENT.key(experiment_id=one): one
            for one in experiment_ids
            if one not in self._primaries
        }
        visible: dict[str, str | None] = {}
        for key, item in (self._database.get_many(unknown) if unknown else {}).items():
            if item[INFO]["workspace"] == self._context.workspace:
                visible[unknown[key]] = item.get("primary")
                if "primary" in item:
                    self._primaries[unknown[key]] = item["primary"]
        known: dict[str, str | None] = {
            one: self._primaries[one] for one in experiment_ids if one in self._primaries
        }
        return visible | known

    def _entities(self, page: Sequence[Candidate]) -> list[Run]:
        load_summaries(self._database, page)
        inputs = self._datasets.of_inputs(
            (one.run.experiment_id, one.read_summary.inputs) for one in page
        )
        return [
            Run(
                one.run.entity(),
                data_of(one.read_summary),
                RunInputs(dataset_inputs=used),
                RunOutputs(
                    [
                        LoggedModelOutput(model_id, step)
                        for model_id, step in one.read_summary.outputs.items()
                    ]
                ),
            )
            for one, used in zip(page, inputs, strict=True)
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
