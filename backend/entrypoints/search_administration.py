"""Wires the administration of search indexes and queues.

Operations that outlast a request run as jobs. Slices are imported where they are wired, as in
`wiring`.
"""
# ruff: noqa: PLC0415

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from backend.core.errors import UnavailableError
from backend.entrypoints.wiring import Wiring

if TYPE_CHECKING:
    from backend.operations.fact_renewals import FactRenewals
    from backend.operations.queues import QueueService
    from backend.operations.search_indexes import SearchIndexService
    from backend.search.maintenance.work import SearchWork

_logger = Logger()


@dataclass(eq=False, repr=False)
class KeepingWiring(Wiring):
    """Creates the services of these functions."""

    @cached_property
    def queue_service(self) -> "QueueService":
        from backend.aws import clients
        from backend.aws.dead_letters import SqsDeadLetters
        from backend.domains.audit.repository import AuditRepository
        from backend.domains.audit.service.commands import AuditNotes
        from backend.operations.queues import QueueService

        dead_letters = SqsDeadLetters(clients.at_first_use(clients.sqs), self.settings)
        notes = AuditNotes(AuditRepository(self.tables), self.audit, self.clock)
        return QueueService(dead_letters, self.authorization, notes)

    @cached_property
    def search_index_service(self) -> "SearchIndexService":
        from backend.operations.search_indexes import SearchIndexService
        from backend.search.indexing.state import SearchState
        from backend.search.maintenance.work import Reports

        return SearchIndexService(
            engine=self.search_engine,
            state=SearchState(self.tables, self.clock),
            work=self.search_work,
            reports=Reports(self.tables),
            assets=self.assets,
            authorization=self.authorization,
        )

    @cached_property
    def fact_renewals(self) -> "FactRenewals":
        from backend.operations.fact_renewals import FactRenewals

        return FactRenewals(self.search_work, self.databases, self.authorization)

    @cached_property
    def search_work(self) -> "SearchWork":
        from backend.search.maintenance.work import SearchWork

        return SearchWork(self.tables, self.jobs, self.audit, self.clock)

    @property
    def search_checks_handler(self) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
        from backend.search.maintenance.work import ScheduledChecks

        checks = ScheduledChecks(self.search_work)

        @_logger.inject_lambda_context(clear_state=True)
        def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
            try:
                return dict(checks.run())
            except UnavailableError as error:  # the next run starts one
                _logger.warning("outage: no check is started", extra={"reason": error.message})
                return {"outage": 1}

        return handle
