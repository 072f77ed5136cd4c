"""Search over logged models."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from typing import Any

from mlflow.entities import LifecycleStage, LoggedModel

from vitrine_mlflow.comparisons import COMPARISONS
from vitrine_mlflow.errors import invalid, page_token_checked
from vitrine_mlflow.logged_models import LoggedModels, ModelMetric, StoredModel
from vitrine_mlflow.mlflow_api import (
    checked_offset,
    parsed_experiment_id,
    parsed_model_filter,
    read_for_page,
    search_models_token,
)

# MLflow's default (`SEARCH_LOGGED_MODEL_MAX_RESULTS_DEFAULT`).
_PAGE = 100
_STATUSES = {"UNSPECIFIED": 0, "PENDING": 1, "READY": 2, "FAILED": 3}
_ATTRIBUTES: dict[str, Callable[[StoredModel], Any]] = {
    "model_id": lambda model: model.model_id,
    "experiment_id": lambda model: int(model.experiment_id),
    "name": lambda model: model.document.name,
    "artifact_location": lambda model: model.document.location,
    "creation_timestamp_ms": lambda model: model.document.created,
    "last_updated_timestamp_ms": lambda model: model.document.updated,
    "model_type": lambda model: model.document.type,
    "source_run_id": lambda model: model.document.run,
    "status": lambda model: _STATUSES[model.document.status],
    "status_message": lambda _: None,
    "lifecycle_stage": lambda model: model.document.stage,
}
_ALIASES = {
    "creation_time": "creation_timestamp_ms",
    "creation_timestamp": "creation_timestamp_ms",
    "last_updated_timestamp": "last_updated_timestamp_ms",
}
_Clause = tuple[Callable[[StoredModel], Any], bool]


def search_logged_models(
    models: LoggedModels,
    experiment_ids: Sequence[str],
    filter_string: str | None,
    datasets: Sequence[dict[str, Any]] | None,
    max_results: int | None,
    order_by: Sequence[dict[str, Any]] | None,
    page_token: str | None,
) -> tuple[list[LoggedModel], str | None]:
    """One page of models, and the token of the next."""
    if datasets and not all(dataset.get("dataset_name") for dataset in datasets):
        raise invalid("`dataset_name` in the `datasets` clause must be specified.")
    token: Any = search_models_token()
    offset = 0
    if page_token:
        with page_token_checked():
            decoded = token.decode(page_token)
            decoded.validate(experiment_ids, filter_string, order_by)
            offset = checked_offset(decoded.offset)
    condition = _condition(filter_string, datasets or [])
    wanted = dict.fromkeys(
        str(parsed_experiment_id(experiment_id)) for experiment_id in experiment_ids
    )
    clauses = _clauses(order_by or [])
    matching = [
        stored
        for experiment_id in wanted
        for stored in models.in_experiment(experiment_id)
        if stored.document.stage != LifecycleStage.DELETED and condition(stored)
    ]
    matching.sort(key=cmp_to_key(lambda model, other: _compare(clauses, model, other)))
    size = max_results or _PAGE
    read = read_for_page(matching, offset, size)
    following = None
    if len(read) > size:
        following = token(
            offset=offset + size,
            experiment_ids=experiment_ids,
            filter_string=filter_string,
            order_by=order_by,
        ).encode()
    return [stored.entity() for stored in read[:size]], following


def _condition(
    filter_string: str | None, datasets: Sequence[dict[str, Any]]
) -> Callable[[StoredModel], bool]:
    comparisons = parsed_model_filter(filter_string)
    of_metrics = any(kind == "metrics" for kind, *_ in comparisons)
    for kind, key, *_ in comparisons:
        if kind == "attributes" and key not in _ATTRIBUTES:
            raise invalid(f"Invalid attribute: {key!r}")

    def matches(stored: StoredModel) -> bool:
        if datasets and not of_metrics and not _on_datasets(stored, datasets):
            return False
        return all(_matches(stored, datasets, *comparison) for comparison in comparisons)

    return matches


def _matches(
    stored: StoredModel,
    datasets: Sequence[dict[str, Any]],
    kind: str,
    key: str,
    comparator: str,
    value: Any,
) -> bool:
    compare = COMPARISONS[comparator]
    document = stored.document
    if kind == "metrics":
        metrics = _on_datasets(stored, datasets) if datasets else stored.metrics
        # SQL has no NaN: a comparison with it is never true
        return not math.isnan(value) and any(
            metric.key == key and compare(metric.value, value) for metric in metrics
        )
    if kind == "attributes":
        attribute = _ATTRIBUTES[key](stored)
        if key in {"status", "experiment_id"}:
            attribute = str(attribute)  # MLflow compares these numbers with the text of the filter
    else:
        attribute = (document.params if kind == "params" else document.tags).get(key)
    return attribute is not None and compare(attribute, value)


def _on_datasets(stored: StoredModel, datasets: Sequence[dict[str, Any]]) -> list[ModelMetric]:
    return [
        metric
        for metric in stored.metrics
        if any(
            metric.dataset_name == dataset["dataset_name"]
            and metric.dataset_digest == dataset.get("dataset_digest", metric.dataset_digest)
            for dataset in datasets
        )
    ]


def _clauses(order_by: Iterable[dict[str, Any]]) -> list[_Clause]:
    clauses: list[_Clause] = []
    names: set[str] = set()
    for clause in order_by:
        field_name: str = clause["field_name"]
        ascending = bool(clause.get("ascending", True))
        name = _ALIASES.get(field_name, field_name)
        kind, dot, key = field_name.partition(".")
        if not dot:
            if name not in _ATTRIBUTES:
                raise invalid(f"Invalid order by field name: {field_name}")
            names.add(name)
            clauses.append((_ATTRIBUTES[name], ascending))
        elif kind == "metrics":
            clauses.append((_latest(key, clause), ascending))
        else:
            raise invalid(f"Invalid order by field name: {field_name}. Only metrics are supported.")
    if "creation_timestamp_ms" not in names:
        clauses.append((_ATTRIBUTES["creation_timestamp_ms"], False))
    if "model_id" not in names:
        clauses.append((_ATTRIBUTES["model_id"], True))
    return clauses


def _latest(key: str, clause: dict[str, Any]) -> Callable[[StoredModel], Any]:
    name, digest = clause.get("dataset_name"), clause.get("dataset_digest")

    def value(stored: StoredModel) -> float | None:
        metrics = [
            metric
            for metric in stored.metrics
            if metric.key == key
            and (not name or metric.dataset_name == name)
            and (not digest or metric.dataset_digest == digest)
        ]
        latest = min(
            metrics,
            key=lambda metric: (-metric.timestamp, -metric.step, metric.run_id),
            default=None,
        )
        return None if latest is None else latest.value

    return value


def _compare(clauses: Sequence[_Clause], model: StoredModel, other: StoredModel) -> int:
    for value_of, ascending in clauses:
        first, second = value_of(model), value_of(other)
        if first == second:
            continue
        if first is None or second is None:
            return 1 if first is None else -1
        return -1 if (first < second) == ascending else 1
    return 0
