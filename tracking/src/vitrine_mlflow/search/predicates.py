"""Conditions of a filter over runs, from MLflow's own parser, evaluated as SQL would."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from vitrine_mlflow.comparisons import COMPARISONS
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.mlflow_api import MLFLOW_DATASET_CONTEXT, MLFLOW_RUN_NAME, SearchUtils
from vitrine_mlflow.runs import StoredRun
from vitrine_mlflow.summaries import Summary

_INFO_NAMES = {
    "run_name": "name", "user_id": "user", "status": "status", "start_time": "start",
    "end_time": "end", "artifact_uri": "uri", "lifecycle_stage": "stage",
}  # fmt: skip


@dataclass
class Candidate:
    """A run that may belong to the result, with as much of it as has been read."""

    run: StoredRun
    summary: Summary | None = None
    known_metric: tuple[str, float] | None = None  # from the index that found the run
    sort_values: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])

    @property
    def read_summary(self) -> Summary:
        if self.summary is None:
            raise ValueError(f"the summary of run {self.run.run_id} has not been read")
        return self.summary

    def metric(self, key: str) -> float | None:
        if self.known_metric and self.known_metric[0] == key:
            return self.known_metric[1]
        latest = self.read_summary.metrics.get(key)
        return None if latest is None else latest[0]

    def attribute(self, key: str) -> Any:
        if key == "run_id":
            return self.run.run_id
        return self.run.info[_INFO_NAMES[key]]


@dataclass(frozen=True)
class Predicate:
    """One condition of a filter."""

    kind: str  # metric, parameter, tag, attribute, dataset
    key: str
    comparator: str
    value: Any

    def needs_summary(self, known_metric: str | None = None) -> bool:
        """Whether the run's own item cannot answer it."""
        if self.kind == "metric":
            return self.key != known_metric
        return self.kind != "attribute"

    def matches(self, candidate: Candidate) -> bool:
        match self.kind:
            case "metric":
                return self._matches_metric(candidate.metric(self.key))
            case "parameter":
                return self._matches_entry(candidate.read_summary.params)
            case "tag":
                return self._matches_entry(candidate.read_summary.tags)
            case "dataset":
                return any(map(self._matches_text, self._dataset_texts(candidate.read_summary)))
            case _:
                return self._matches_text(candidate.attribute(self.key))

    def _matches_metric(self, stored: float | None) -> bool:
        if stored is None:
            return False
        if math.isnan(stored):
            return self.comparator == "!="  # every comparison with NaN is false, except this one
        return COMPARISONS[self.comparator](stored, self.value)

    def _matches_entry(self, entries: dict[str, Any]) -> bool:
        if self.comparator == "IS NULL":
            return self.key not in entries
        if self.comparator == "IS NOT NULL":
            return self.key in entries
        return self._matches_text(entries.get(self.key))

    def _dataset_texts(self, summary: Summary) -> list[str]:
        entries = summary.inputs.values()
        if self.key != "context":
            return [entry[self.key] for entry in entries]
        return [
            value
            for entry in entries
            for name, value in json.loads(entry["tags"])
            if name == MLFLOW_DATASET_CONTEXT
        ]

    def _matches_text(self, stored: Any) -> bool:
        # SQL: a comparison with nothing is not true
        return stored is not None and COMPARISONS[self.comparator](stored, self.value)


def predicates_of(parsed_filter: Iterable[dict[str, Any]]) -> list[Predicate]:
    """The conditions of a filter that MLflow's parser read.

    Raises:
        MlflowException: a type does not have the comparator.
    """
    return [_predicate(parsed) for parsed in parsed_filter]


def _predicate(parsed: dict[str, Any]) -> Predicate:
    kind: str = parsed["type"]
    comparator: str = parsed["comparator"].upper()
    key: str = SearchUtils.translate_key_alias(parsed["key"])
    value: Any = parsed["value"]
    if SearchUtils.is_string_attribute(kind, key, comparator) or SearchUtils.is_numeric_attribute(
        kind, key, comparator
    ):
        if key == "run_name":
            # runs of old versions have their name in this tag only, and searches read the tag
            return Predicate("tag", MLFLOW_RUN_NAME, comparator, value)
        return Predicate("attribute", key, comparator, value)
    if SearchUtils.is_metric(kind, comparator):
        return Predicate("metric", key, comparator, float(value))
    if (
        SearchUtils.is_param(kind, comparator)
        or SearchUtils.is_tag(kind, comparator)
        or SearchUtils.is_dataset(kind, comparator)
    ):
        return Predicate(kind, key, comparator, value)
    raise invalid(f"Invalid search expression type '{kind}'")
