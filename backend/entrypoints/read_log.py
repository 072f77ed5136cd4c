"""Wires the audit log of reads: the sender and the consumer of its queue."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools import Logger

from backend.aws import clients
from backend.core.deliveries import Reply
from backend.core.reads import Reads, UnrecordedReads
from backend.domains.audit.repository import AuditRepository
from backend.entrypoints.wiring import Wiring
from backend.spec.metrics import Metric
from backend.spec.settings import AUDIT_DAYS, AUDIT_READS

Handler = Callable[[dict[str, Any], Any], Reply]
_logger = Logger()


def reads_of(wiring: Wiring) -> Reads:
    """Return what records the reads of one function, if the setting is on."""
    from backend.aws.queues import SqsQueues  # noqa: PLC0415 - one side
    from backend.domains.audit.service.reads import QueuedReads  # noqa: PLC0415 - likewise

    if wiring.settings.number(AUDIT_READS) != 1:
        return UnrecordedReads()
    queues = SqsQueues(clients.at_first_use(clients.short_timeout_sqs), wiring.settings)
    return QueuedReads(queues, wiring.clock)


@dataclass(eq=False, repr=False)
class ReadsWiring(Wiring):
    """Creates the services of the consumer of the queue."""

    @property
    def reads_handler(self) -> Handler:
        from backend.domains.audit.service.consumers import ReadsConsumer  # noqa: PLC0415 - one side

        consumer = ReadsConsumer(
            AuditRepository(self.tables),
            lambda: self.settings.number(AUDIT_DAYS),
            self.queues,
            self._ring,
        )

        @_logger.inject_lambda_context(clear_state=True)
        def handle(event: dict[str, Any], context: Any) -> Reply:  # noqa: ARG001 - Lambda's
            return consumer.consume(event)

        return handle

    def _ring(self, metric: Metric) -> None:
        from backend.search.indexing.failures import ring  # noqa: PLC0415 - few batches meet an outage

        ring(metric, self.function.name)
