"""Metrics of the functions behind the API. Loaded when something is counted."""

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from backend.core.denials import Denial
from backend.spec.metrics import ACCESS_DENIED, DENIALS_NOT_ENTERED, NAMESPACE, OF_API, Metric

_logger = Logger(child=True)


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


class DenialCounter:
    """Counts refusals as metrics."""

    def denied(self, denial: Denial) -> None:
        count(ACCESS_DENIED, reason=denial.refusal)

    def not_entered(self, denial: Denial, reason: str) -> None:
        details = {"route": denial.route.key, "reason": reason}
        _logger.warning("a refused request was not recorded in the audit log", extra=details)
        count(DENIALS_NOT_ENTERED)
