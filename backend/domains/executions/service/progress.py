"""The progress of executions: started, ended, reservations released.

Every step reads the stored state and writes on the condition that it is unchanged, so events may
repeat, arrive late and in any order, and a repetition after a crash has no further effect.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from backend.core.attempts import attempts
from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.queues import Queues
from backend.core.transactions import Write
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.executions import rules
from backend.domains.executions.errors import ExecutionChangedError
from backend.domains.executions.models import (
    ActiveExecution,
    ActiveRun,
    EndStatus,
    Execution,
    RunError,
)
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import ExecutionRepository, Reserved
from backend.domains.executions.rules import events
from backend.spec.queues import EXECUTION_STARTS, UPLOAD_TRIGGERS

_ATTEMPTS = 8  # of a change that conflicts with others


class Ending(NamedTuple):
    """The end of an execution; `others` are its audit entry and writes of the same transaction."""

    status: EndStatus
    at: datetime
    error: RunError | None = None
    others: tuple[Write, ...] = ()


@dataclass(eq=False, repr=False)
class ExecutionProgress:
    executions: ExecutionRepository
    active: ActiveRepository
    queues: Queues
    audit: AuditService
    clock: Clock

    @attempts(_ATTEMPTS, ExecutionChangedError)
    def record_started(self, execution_id: str, at: datetime) -> bool:
        """Record that an execution runs; return whether it is active."""
        execution = self.executions.find(execution_id)
        if execution is None or not execution.is_active:
            return False
        if execution.execution_status == "RUNNING":
            return True
        self.executions.change(execution, rules.started_changes(at))
        return True

    @attempts(_ATTEMPTS, ExecutionChangedError)
    def end(
        self,
        execution_id: str,
        status: EndStatus,
        *,
        error: RunError | None = None,
        at: datetime | None = None,
        others: tuple[Write, ...] = (),
    ) -> bool:
        """End an execution, release its reservations, and start waiting ones.

        Returns whether it was active. If its asset was deleted, only reservations are left.
        `others` are its audit entry and writes of the same transaction.
        """
        ending = Ending(status, at or self.clock(), error, others)
        execution = self.executions.find(execution_id)
        active = self.active.find(execution_id)
        if active is None and (execution is None or not execution.is_active):
            return False
        self._end(execution_id, execution, active, ending)
        self.request_starts()
        return True

    def request_starts(self, *, even_unstarted: bool = False) -> None:
        """Request a start of waiting executions, if there are any.

        `even_unstarted` also includes admitted ones that are not known to have started.
        """
        if self.active.oldest_waiting(1) or (
            even_unstarted
            and any(execution.started_at is None for execution in self.active.list_admitted())
        ):
            self.queues.send(EXECUTION_STARTS, [{}])

    def _end(
        self,
        execution_id: str,
        execution: Execution | None,
        active: ActiveExecution | None,
        ending: Ending,
    ) -> None:
        key = (
            active.reservation
            if active
            else ("" if execution is None else rules.reservation_key(rules.target_of(execution)))
        )
        reserved = Reserved(execution_id, key, self.executions.active_run(key))
        run = reserved.run
        if run is not None and run.execution_id == execution_id and run.next_upload is not None:
            # The upload that waits for the end of this execution, before it is released. After a
            # crash it is sent again: the execution of an upload starts only once.
            self.queues.send(UPLOAD_TRIGGERS, [json.loads(run.next_upload)])
        changes: Mapping[str, Any] = {}
        repeat = None
        if execution is not None:
            changes = rules.ended_changes(execution, ending.status, ending.at, ending.error)
            # An upload that waits for this end reads the file instead.
            if execution.is_active and reserved.run == ActiveRun(execution_id=execution_id):
                repeat = rules.repeated_execution(execution, ending.error, self.clock())
            if execution.is_active and repeat is None:
                failed = rules.failed_inspection(execution, ending.status, ending.error)
                if failed is not None:
                    # Before the end is stored: a crash between the two must not lose the failure.
                    # It may be sent again, or for an execution that another report ended
                    # differently: facts that readers found are not replaced.
                    self.queues.send(UPLOAD_TRIGGERS, [events.failure_message(failed)])
            if execution.is_active and not ending.others:
                entry = self.audit.entry(
                    Identity(execution.started_by),
                    "complete_execution",
                    audit_entity("execution", execution_id),
                    before={"executionStatus": execution.execution_status},
                    after=rules.end_of(execution, ending.status),
                )
                ending = ending._replace(others=(entry,))
        writes = self.executions.end_writes(execution, changes, reserved, repeat)
        if repeat is not None:
            writes.append(self.active.waiting_write(repeat))
        if active is not None:
            writes += self.active.end_writes(active, self.clock())
        self.executions.commit([*writes, *ending.others])

    def _send_failure(self, execution: Execution, ending: Ending) -> None:
        """Send why an inspection failed.

        It may be sent again, or for an execution that another report ended differently: facts that
        readers found are not replaced.
        """
        failed = rules.failed_inspection(execution, ending.status, ending.error)
        if failed is not None:
            # Before the end of the execution is stored: a crash between the two must not lose the
            # failure.
            self.queues.send(UPLOAD_TRIGGERS, [events.failure_message(failed)])
