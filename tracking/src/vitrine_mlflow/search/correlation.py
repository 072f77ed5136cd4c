"""Correlation of two filters: how often they find the same traces."""

from collections.abc import Sequence
from typing import Any

from vitrine_mlflow.experiments import Experiments
from vitrine_mlflow.mlflow_api import parsed_experiment_id
from vitrine_mlflow.mlflow_genai import correlation, correlation_result
from vitrine_mlflow.search.trace_filters import TraceFilter
from vitrine_mlflow.search.traces import TraceSearch


def filter_correlation(
    search: TraceSearch,
    experiments: Experiments,
    experiment_ids: Sequence[str],
    filters: tuple[str, str],
    base_filter: str | None,
) -> Any:
    """The correlation of two filters over the traces of experiments, or those of a third filter."""
    wanted = dict.fromkeys(
        str(parsed_experiment_id(experiment_id)) for experiment_id in experiment_ids
    )
    combined = [
        f"{base_filter} and {filter_string}" if base_filter else filter_string
        for filter_string in filters
    ]
    for text in combined:
        TraceFilter.parse(text)  # refused also where there is no experiment to read
    scope = experiments.existing_of(list(wanted))

    def found(filter_string: str | None) -> set[str]:
        return {
            trace.trace_id for own in scope for trace in search.matching_traces(own, filter_string)
        }

    first, second = map(found, combined)
    total = len(found(base_filter))
    joint = len(first & second)
    result = correlation((joint, len(first), len(second), total))
    return correlation_result(
        npmi=result.npmi,
        npmi_smoothed=result.npmi_smoothed,
        filter1_count=len(first),
        filter2_count=len(second),
        joint_count=joint,
        total_count=total,
    )
