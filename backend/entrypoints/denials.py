"""Wires the audit log of refused requests. Loaded by the first refusal."""

from aws_lambda_powertools import Logger

from backend.aws.clients import short_timeout_dynamodb
from backend.aws.tables import DynamoTables
from backend.core.denials import Denial
from backend.core.ids import new_suffix
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.refusals import RefusalTrail
from backend.entrypoints.wiring import Wiring
from backend.http.metrics import count
from backend.spec.metrics import ACCESS_DENIED, DENIALS_NOT_ENTERED
from backend.spec.settings import AUDIT_DAYS

_logger = Logger(child=True)


class MetricCounter:
    """Counts refusals as metrics."""

    def denied(self, denial: Denial) -> None:
        count(ACCESS_DENIED, reason=denial.refusal)

    def not_entered(self, denial: Denial, reason: str) -> None:
        details = {"route": denial.route.key, "reason": reason}
        _logger.warning("a refused request was not recorded in the audit log", extra=details)
        count(DENIALS_NOT_ENTERED)


def refusals(wiring: Wiring) -> RefusalTrail:
    """Return the log of one function, which appends to the table of entries."""
    return RefusalTrail(
        AuditRepository(DynamoTables(short_timeout_dynamodb(), wiring.settings)),
        MetricCounter(),
        days=lambda: wiring.settings.number(AUDIT_DAYS),
        clock=wiring.clock,
        suffix=new_suffix,
    )
