"""Search over evaluation datasets."""

from collections.abc import Callable, Sequence
from typing import Any

from vitrine_mlflow.comparisons import COMPARISONS, matches, require_comparable, whole_number
from vitrine_mlflow.errors import invalid, type_errors_reported
from vitrine_mlflow.evaluation import EvaluationDatasets, StoredDataset
from vitrine_mlflow.mlflow_api import SearchUtils, start_offset, validated_max_results
from vitrine_mlflow.mlflow_genai import SearchEvaluationDatasetsUtils

_TEXT_COMPARATORS = {"=", "!=", "LIKE", "ILIKE"}
_NAMES = {
    "name": "name",
    "created_time": "created",
    "last_update_time": "updated",
    "created_by": "created_by",
    "last_updated_by": "updated_by",
}
_Condition = Callable[[StoredDataset], bool]


def search_datasets(
    datasets: EvaluationDatasets,
    experiment_ids: Sequence[str] | None,
    filter_string: str | None,
    max_results: int,
    order_by: Sequence[str] | None,
    page_token: str | None,
) -> tuple[list[StoredDataset], Any]:
    """One page of datasets, and the token of the next. All of the workspace are read."""
    validated_max_results(max_results)
    offset = start_offset(page_token)
    parsed: list[dict[str, Any]] = (
        SearchEvaluationDatasetsUtils.parse_search_filter(filter_string) if filter_string else []
    )
    conditions = [_condition(condition) for condition in parsed]
    if experiment_ids:
        wanted = {str(experiment_id) for experiment_id in experiment_ids}
        conditions.append(lambda dataset: not wanted.isdisjoint(dataset.experiments))
    clauses = _clauses(order_by)
    matching = [
        dataset for dataset in datasets.all() if all(condition(dataset) for condition in conditions)
    ]
    # the last key first, since sorting is stable
    for key, ascending in reversed(clauses):
        matching.sort(key=lambda dataset, key=key: _sort_value(dataset, key), reverse=not ascending)
    more = len(matching) > offset + max_results
    token = SearchUtils.create_page_token(offset + max_results) if more else None
    return matching[offset : offset + max_results], token


def _condition(parsed: dict[str, Any]) -> _Condition:
    kind, key, comparator = parsed["type"], parsed["key"], parsed["comparator"]
    value: Any = parsed["value"]
    if kind == "tag":
        if comparator not in _TEXT_COMPARATORS:
            raise invalid(f"Invalid comparator for tag: {comparator}")
        return lambda dataset: matches(dataset.info["tags"].get(key), comparator, value)
    if kind != "attribute":
        raise invalid(f"Invalid token type: {kind}")
    if (
        SearchEvaluationDatasetsUtils.is_string_attribute(kind, key, comparator)
        and comparator not in _TEXT_COMPARATORS
        and not (key == "name" and comparator == "IN")
    ):
        raise invalid(f"Invalid comparator for string attribute: {comparator}")
    if key in SearchEvaluationDatasetsUtils.NUMERIC_ATTRIBUTES:
        value = whole_number(key, comparator, value)
    else:
        with type_errors_reported():
            COMPARISONS[comparator]  # a comparator in small letters, which the parser lets pass
    require_comparable(comparator, value)
    return lambda dataset: matches(dataset.info[_NAMES[key]], comparator, value)


def _clauses(order_by: Sequence[str] | None) -> list[tuple[str, bool]]:
    clauses: list[tuple[str, bool]] = []
    for text in order_by or ["created_time DESC"]:
        kind, key, ascending = (
            SearchEvaluationDatasetsUtils.parse_order_by_for_search_evaluation_datasets(text)
        )
        if kind != "attribute":
            raise invalid(f"Invalid order_by entity: {kind}")
        clauses.append((key, ascending))
    return [*clauses, ("dataset_id", False)]


def _sort_value(dataset: StoredDataset, key: str) -> Any:
    return dataset.dataset_id if key == "dataset_id" else dataset.info[_NAMES[key]]
