"""Search over experiments."""

from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from typing import Any

from mlflow.entities import Experiment

from vitrine_mlflow.comparisons import COMPARISONS, matches, whole_number
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.experiment_items import StoredExperiment
from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.full_text import trigrams_of_filters
from vitrine_mlflow.mlflow_api import (
    SearchExperimentsUtils,
    parsed_experiment_id,
    read_for_page,
    stages_of,
    start_offset,
    validated_max_results,
)

_TEXT_COMPARATORS = ("=", "!=", "LIKE", "ILIKE")
_Condition = Callable[[Experiment], bool]


def search_experiments(
    experiments: Experiments,
    view: Any,
    max_results: int | None,
    filter_string: str | None,
    order_by: Sequence[str] | None,
    page_token: str | None,
) -> tuple[list[Experiment], bytes | None]:
    """One page of experiments, and the token of the next."""
    validated_max_results(max_results)
    filters = SearchExperimentsUtils.parse_search_filter(filter_string)
    conditions = [_condition(parsed) for parsed in filters]
    compare = _comparison(order_by)
    offset = start_offset(page_token)
    stages = stages_of(view)
    candidates = [
        experiments.entity(stored)
        for stored in _candidates(experiments, filters)
        if stored.stage in stages
    ]
    matching = [
        experiment
        for experiment in candidates
        if all(condition(experiment) for condition in conditions)
    ]
    size = max_results or 0
    read = read_for_page(sorted(matching, key=cmp_to_key(compare)), offset, size)
    more = len(read) > size
    return read[:size], SearchExperimentsUtils.create_page_token(offset + size) if more else None


def _candidates(
    experiments: Experiments, filters: list[dict[str, Any]]
) -> Iterable[StoredExperiment]:
    """Experiments whose names have the letters that the filter requires, or all."""
    required = trigrams_of_filters(filters)
    selected = experiments.with_trigrams(required) if required else None
    return experiments.listed_by_name() if selected is None else selected


def _condition(parsed: dict[str, Any]) -> _Condition:
    kind, key, comparator = parsed["type"], parsed["key"], parsed["comparator"]
    if kind == "attribute":
        return _attribute_condition(key, comparator, parsed["value"])
    if kind == "tag":
        return _tag_condition(key, comparator, parsed["value"])
    raise invalid(f"Invalid token type: {kind}")


def _attribute_condition(key: str, comparator: str, value: Any) -> _Condition:
    if key == "experiment_id":
        if comparator not in {"=", "!=", "IN", "NOT IN"}:
            raise invalid(f"Invalid comparator for experiment_id: {comparator}")
        several = comparator in {"IN", "NOT IN"}
        wanted: Any = (
            tuple(parsed_experiment_id(experiment_id) for experiment_id in value)
            if several
            else parsed_experiment_id(value)
        )
        return lambda experiment: COMPARISONS[comparator](int(experiment.experiment_id), wanted)
    is_text = SearchExperimentsUtils.is_string_attribute("attribute", key, comparator)
    if is_text and comparator not in _TEXT_COMPARATORS:
        raise invalid(f"Invalid comparator for string attribute: {comparator}")
    if SearchExperimentsUtils.is_numeric_attribute("attribute", key, comparator):
        value = whole_number(key, comparator, value)
    return lambda experiment: matches(getattr(experiment, key), comparator, value)


def _tag_condition(key: str, comparator: str, value: Any) -> _Condition:
    if comparator == "IS NULL":
        return lambda experiment: key not in experiment.tags
    if comparator == "IS NOT NULL":
        return lambda experiment: key in experiment.tags
    if comparator not in _TEXT_COMPARATORS:
        raise invalid(f"Invalid comparator for tag: {comparator}")
    return lambda experiment: (
        key in experiment.tags and matches(experiment.tags[key], comparator, value)
    )


def _comparison(order_by: Sequence[str] | None) -> Callable[[Experiment, Experiment], int]:
    clauses: list[tuple[str, bool]] = []
    for text in order_by or ["creation_time DESC", "experiment_id ASC"]:
        kind, key, ascending = SearchExperimentsUtils.parse_order_by_for_search_experiments(text)
        if kind != "attribute":
            raise invalid(f"Invalid order_by entity: {kind}")
        clauses.append((key, ascending))
    if not any(key == "experiment_id" for key, _ in clauses):
        clauses.append(("experiment_id", False))

    def compare(earlier: Experiment, other: Experiment) -> int:
        for key, ascending in clauses:
            first, second = _sort_value(earlier, key), _sort_value(other, key)
            if first != second:
                return -1 if (first < second) == ascending else 1
        return 0

    return compare


def _sort_value(experiment: Experiment, key: str) -> Any:
    value = getattr(experiment, key)
    return int(value) if key == "experiment_id" else value
