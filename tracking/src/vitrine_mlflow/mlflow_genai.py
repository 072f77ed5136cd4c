"""The parts of MLflow's evaluation without public names or types, in one place."""

# ruff: noqa: PLC0415 - MLflow's evaluation takes seconds to import, and most stores never need it
# pyright: reportUnknownVariableType=false

import json
from typing import Any

from mlflow.utils import search_utils

from vitrine_mlflow.errors import invalid

_untyped_search: Any = search_utils

SearchIssuesUtils: Any = _untyped_search.SearchIssuesUtils
SearchEvaluationDatasetsUtils: Any = _untyped_search.SearchEvaluationDatasetsUtils


def _scorer_utils() -> Any:
    from mlflow.genai.scorers import scorer_utils

    return scorer_utils


def endpoint_of_scorer(serialized: str) -> str | None:
    """The gateway endpoint that a scorer names, if it names one.

    Raises:
        MlflowException: the text is no scorer, or its model is invalid.
    """
    utils = _scorer_utils()
    try:
        model = utils.extract_model_from_serialized_scorer(json.loads(serialized))
    except (ValueError, AttributeError, RecursionError) as error:  # no JSON, or of other types
        raise invalid("serialized_scorer: expected the JSON object of a scorer") from error
    utils.validate_scorer_model(model)
    return str(utils.extract_endpoint_ref(model)) if utils.is_gateway_model(model) else None


def validate_scorer_name(name: Any) -> None:
    _scorer_utils().validate_scorer_name(name)


def online_config(**fields: Any) -> Any:
    from mlflow.genai.scorers.online.entities import OnlineScoringConfig

    return OnlineScoringConfig(**fields)


def correlation(counts: tuple[int, int, int, int]) -> Any:
    """The correlation of two filters by the counts of both, the first, the second, and all."""
    from mlflow.store.analytics import trace_correlation

    untyped: Any = trace_correlation
    return untyped.calculate_npmi_from_counts(*counts)


def correlation_result(**fields: Any) -> Any:
    from mlflow.tracing.analysis import TraceFilterCorrelationResult

    return TraceFilterCorrelationResult(**fields)
