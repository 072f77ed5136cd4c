"""Counts what the functions behind the API count as one. Loaded when something is counted."""

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.spec.metrics import NAMESPACE, OF_API, Metric


def count(metric: Metric, **dimensions: str) -> None:
    """Count one event; `dimensions` tell kinds of it apart."""
    with single_metric(
        name=metric.name,
        unit=MetricUnit.Count,
        value=1,
        namespace=NAMESPACE,
        default_dimensions={**OF_API, **dimensions},
    ):
        pass
