"""Wires the consumer of the queue of reads for the audit log."""

from functools import partial

from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.consumers import ReadsConsumer
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run
from backend.spec.metrics import Metric
from backend.spec.settings import AUDIT_DAYS


def reads(context: Context) -> Run:
    def count_metric(metric: Metric) -> None:
        from backend.entrypoints.wiring import failures  # noqa: PLC0415 - few batches meet an outage

        failures.count_metric(context)(metric)

    days = partial(context.settings.number, AUDIT_DAYS)
    return ReadsConsumer(
        AuditRepository(context.tables), days, context.queues, count_metric
    ).consume
