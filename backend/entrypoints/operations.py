"""Wires scheduled maintenance: replays of failures and sweeps of tombstones."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger

from backend.aws import clients
from backend.aws.guarded_objects import S3GuardedObjects
from backend.aws.search_engine import connect
from backend.core.errors import UnavailableError
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.commands import AuditNotes
from backend.domains.audit.service.streams import Creations, ExpiredEntries
from backend.domains.jobs.service import JobStarter
from backend.entrypoints.audit_streams import CreationsConsumer, ExpiryConsumer
from backend.entrypoints.indexing import IndexingWiring
from backend.entrypoints.subscriptions import OutdatedNotifications
from backend.operations.failures import FailureService
from backend.search.indexing.failures import FailureStore
from backend.search.indexing.state import SearchState
from backend.search.indexing.tombstones import TombstoneSweep
from backend.search.maintenance.failure_entries import FailureEntries
from backend.search.maintenance.replay import LeftoverReplays, Replayer, StreamConsumers
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.functions.workers import (
    AUDIT_ARCHIVER,
    AUDIT_CREATIONS,
    INDEX_CHANGES,
    JOB_STARTER,
    NOTIFIER,
)

Scheduled = Callable[[dict[str, Any], Any], dict[str, Any]]
_SHARE = 0.5
"""Part of a function's timeout in which a scheduled run starts work."""
_logger = Logger()


@dataclass(eq=False, repr=False)
class OperationsWiring(IndexingWiring):
    """Creates the services of the functions of operations."""

    @cached_property
    def entries(self) -> FailureEntries:
        bucket = self.settings.bucket(FAILURE_BUCKET)
        return FailureEntries(
            self.objects, S3GuardedObjects(clients.at_first_use(clients.s3)), bucket
        )

    @cached_property
    def notes(self) -> AuditNotes:
        return AuditNotes(AuditRepository(self.tables), self.audit, self.clock)

    @cached_property
    def replayer(self) -> Replayer:
        return Replayer(
            entries=self.entries,
            rebuilder=self.rebuilder,
            streams=self.stream_consumers,
            store_of=self._store_of,
            queues=self.queues,
            clock=self.clock,
        )

    @property
    def stream_consumers(self) -> StreamConsumers:
        """Return each consumer of streams, as a replay uses it."""
        creations = Creations(AuditRepository(self.tables), self.audit)
        expired = ExpiredEntries(self.audit_archive)
        return {
            AUDIT_ARCHIVER.name: lambda failures: ExpiryConsumer(expired, failures).consume,
            AUDIT_CREATIONS.name: lambda failures: CreationsConsumer(creations, failures).consume,
            INDEX_CHANGES.name: lambda failures: self.changes_consumer(failures).consume,
            NOTIFIER.name: lambda failures: OutdatedNotifications(failures).consume,
            JOB_STARTER.name: lambda failures: JobStarter(self.queues).consume,  # noqa: ARG005
        }

    @cached_property
    def failure_service(self) -> FailureService:
        return FailureService(
            self.entries, self.replayer, self.authorization, self.notes, self.clock
        )

    @property
    def replays_handler(self) -> Scheduled:
        leftovers = LeftoverReplays(self.entries, self.replayer, self.clock)
        return self._scheduled(lambda until: leftovers.run(until=until))

    @property
    def tombstones_handler(self) -> Scheduled:
        state = SearchState(self.tables, self.clock)
        sweep = TombstoneSweep(connect(self.settings), state, self.clock)
        return self._scheduled(lambda until: {"removed": sweep.run(until=until)})

    def _store_of(self, consumer: str) -> FailureStore:
        return FailureStore(
            self.objects, self.settings.bucket(FAILURE_BUCKET), consumer, self.clock
        )

    def _scheduled(self, run: Callable[[Any], dict[str, int]]) -> Scheduled:
        @_logger.inject_lambda_context(clear_state=True)
        def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
            until = self.clock() + timedelta(seconds=self.function.timeout_seconds * _SHARE)
            try:
                counts = run(until)
            except UnavailableError as error:  # the next run continues
                _logger.warning("outage: the run ends", extra={"reason": error.message})
                return {"outage": 1}
            _logger.info("done", extra={"counts": counts})
            return dict(counts)

        return handle
