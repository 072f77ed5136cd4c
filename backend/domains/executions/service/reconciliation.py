"""Ends executions whose end no event reported, and starts those that were left waiting."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.core.runs import Runs
from backend.domains.executions import rules
from backend.domains.executions.models import RunError
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.rules.events import ENDS
from backend.domains.executions.service.progress import ExecutionProgress

_UNKNOWN = RunError(
    code=rules.INTERRUPTED,
    message="Step Functions has no record of this execution any more",
)
_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Reconciliation:
    """Compares executions. `silence_seconds` is the time from the start to the first check."""

    active: ActiveRepository
    progress: ExecutionProgress
    runs: Runs
    clock: Clock
    silence_seconds: Callable[[], int]

    def run(self) -> None:
        """Compare every started execution with its state in Step Functions.

        If Step Functions does not respond, the remaining ones are left to the next run.
        """
        try:
            for admitted in self.active.list_admitted():
                started = admitted.started_at
                silence = timedelta(seconds=self.silence_seconds())
                if started and self.clock() - datetime.fromisoformat(started) >= silence:
                    self._compare(admitted.execution_id)
            self.progress.request_starts(even_unstarted=True)
        except UnavailableError as error:
            _log.warning("outage: executions are compared later: %s", error.message)

    def _compare(self, execution_id: str) -> None:
        run = self.runs.describe(execution_id)
        if run is None:
            self.progress.end(execution_id, "FAILED", error=_UNKNOWN)
            return
        status = ENDS.get(run.status)
        if status is not None:
            error = rules.error_of(status, run.error, run.cause)
            self.progress.end(
                execution_id,
                status,
                error=error,
                at=None if run.stopped_at is None else datetime.fromisoformat(run.stopped_at),
            )
