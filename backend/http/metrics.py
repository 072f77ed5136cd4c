"""Metrics of the functions behind the API. Loaded when something is counted."""

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.spec.metrics import NAMESPACE, OF_API, Metric


def count(metric: Metric, **dimensions: str) -> None:
    """Count one event; `dimensions` distinguish kinds of it."""
    with single_metric(
        name=metric.name,
        unit=MetricUnit.Count,
        value=1,
        namespace=NAMESPACE,
        default_dimensions={**OF_API, **dimensions},
    ):
        pass
