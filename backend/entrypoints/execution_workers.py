"""Wires the functions that start, end, reconcile and trigger executions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger

from backend.core.authorization import Authorization, SystemOnly
from backend.domains.buckets.service import BucketRegistry
from backend.domains.executions.service.admission import Admission
from backend.domains.executions.service.consumers import StartConsumer, StatusConsumer
from backend.domains.executions.service.payload import Payloads
from backend.domains.executions.service.reconciliation import Reconciliation
from backend.domains.executions.service.triggers import UploadTriggers
from backend.domains.uploads.repository import UploadRepository
from backend.domains.uploads.service.uploaders import Uploaders
from backend.entrypoints.executions import ExecutionWiring
from backend.entrypoints.job_workers import Handler, WorkerWiring, handler_of
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.settings import EXECUTION_SILENCE_SECONDS, EXECUTIONS_AT_ONCE

Scheduled = Callable[[dict[str, Any], Any], dict[str, Any]]
_logger = Logger()


@dataclass(eq=False, repr=False)
class ExecutionWorkerWiring(ExecutionWiring, WorkerWiring):
    """Creates the services that start, end and trigger executions, as the product itself."""

    @cached_property
    def authorization(self) -> Authorization:
        return SystemOnly()

    @cached_property
    def admission(self) -> Admission:
        return Admission(
            executions=self.executions,
            active=self.active,
            progress=self.progress,
            payloads=Payloads(
                self.assets,
                self.records,
                self.objects,
                lambda: self.settings.bucket(AUXILIARY_BUCKET),
            ),
            runs=self.runs,
            clock=self.clock,
            limit=lambda: self.settings.number(EXECUTIONS_AT_ONCE),
        )

    @cached_property
    def starts(self) -> StartConsumer:
        return StartConsumer(self.admission, self.queues, self.ring)

    @property
    def starts_handler(self) -> Handler:
        return handler_of(self.starts.consume)

    @cached_property
    def status(self) -> StatusConsumer:
        return StatusConsumer(self.progress, self.queues, self.failures.keep, self.ring)

    @property
    def status_handler(self) -> Handler:
        return handler_of(self.status.consume)

    @cached_property
    def triggers(self) -> UploadTriggers:
        return UploadTriggers(
            executions=self.executions,
            active=self.active,
            workflows=self.workflows,
            workflow_triggers=self.workflow_triggers,
            pipelines=self.pipelines,
            rights=self.rules,  # those of users: the product itself runs only its own workflows
            assets=self.assets,
            registry=BucketRegistry(self.tables),
            uploaders=Uploaders(UploadRepository(self.tables)),
            quarantine=self.files.quarantine,
            objects=self.objects,
            queues=self.queues,
            audit=self.audit,
            clock=self.clock,
            keep=self.failures.keep,
            ring=self.ring,
        )

    @property
    def triggers_handler(self) -> Handler:
        return handler_of(self.triggers.consume)

    @cached_property
    def reconciliation(self) -> Reconciliation:
        return Reconciliation(
            self.active,
            self.progress,
            self.runs,
            self.clock,
            lambda: self.settings.number(EXECUTION_SILENCE_SECONDS),
        )

    @property
    def reconciliation_handler(self) -> Scheduled:
        @_logger.inject_lambda_context(clear_state=True)
        def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
            self.reconciliation.run()
            return {}

        return handle
