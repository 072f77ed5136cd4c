"""Starts waiting executions, within the limit of concurrent ones.

All decisions are based on stored data: a message is only a signal to check. An execution is counted
before it is started, and a start with the same name has no further effect, so the next check
repairs whatever a crash between two steps leaves.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.clock import Clock, iso
from backend.core.errors import RateLimitedError, UnavailableError, VitrineError
from backend.core.runs import Runs
from backend.domains.executions import rules
from backend.domains.executions.errors import ExecutionChangedError, FullError
from backend.domains.executions.models import ActiveExecution, RunError
from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.rules import new_executions, places
from backend.domains.executions.service.payload import Payloads
from backend.domains.executions.service.progress import ExecutionProgress

# Time for which a start is retried that Step Functions temporarily rejects; then the execution
# fails, so that its place becomes free.
START_TIME = timedelta(minutes=15)
# Time in which only the starter that admitted an execution starts it: it does so at once, so after
# this time it has died. A repeated start has no effect (decision 46).
_OWN = timedelta(seconds=30)
# Time after which one call admits no further executions. With many waiting, the function would time
# out.
WORK_TIME = timedelta(seconds=60)
_log = logging.getLogger(__name__)


class _NeverStartedError(UnavailableError):
    code = rules.NOT_STARTED

    def __init__(self) -> None:
        super().__init__("The execution could not be started within 15 minutes")


@dataclass(eq=False, repr=False)
class Admission:
    """Starts executions. `limit` is the maximum number of concurrent executions."""

    executions: ExecutionRepository
    active: ActiveRepository
    progress: ExecutionProgress
    payloads: Payloads
    runs: Runs
    clock: Clock
    limit: Callable[[], int]

    def start_waiting(self, *, again: bool = False) -> None:
        """Start waiting executions, then those that were admitted and never started.

        The user with the fewest running executions comes first, of these the one who has been
        without a place for longest.

        `again`: an earlier call for the same messages failed, so this one also starts what it
        admitted.

        Raises:
            RateLimitedError: Step Functions limits new executions for a time.
            UnavailableError: a service does not respond. In both cases, call it again later.
        """
        if not self._admit_waiting(self.clock() + WORK_TIME):
            self.progress.request_starts()
        # Last: one whose start crashes this function must not prevent others from starting.
        for admitted in self.active.list_admitted():
            if admitted.started_at is None and (again or self._is_left(admitted)):
                self._start(admitted)

    def _admit_waiting(self, stop_at: datetime) -> bool:
        """Return whether all places that waiting executions may take are taken."""
        while chosen := self._choose_executions():
            for execution in chosen:
                if self.clock() >= stop_at:
                    return False
                try:
                    admitted = self.active.admit(
                        execution, at=iso(self.clock()), limit=self.limit()
                    )
                except FullError:
                    return True
                # another starter, or the end of the execution, has changed the item
                except ExecutionChangedError:
                    continue
                self._start(admitted)
        return True

    def _choose_executions(self) -> Sequence[ActiveExecution]:
        waiting = self.active.list_waiting()
        if not waiting:
            return ()
        users = {execution.user for execution in waiting}
        last_places: Mapping[str, str] = {}
        if len(users) > 1:
            last_places = self.active.last_places(users)
        return places.executions_to_admit(
            waiting, self.active.list_admitted(), self.limit(), last_places
        )

    def _is_left(self, admitted: ActiveExecution) -> bool:
        return self._age(admitted) >= _OWN

    def _age(self, admitted: ActiveExecution) -> timedelta:
        return self.clock() - datetime.fromisoformat(admitted.since)

    def _start(self, admitted: ActiveExecution) -> None:
        execution_id = admitted.execution_id
        execution = self.executions.get(admitted.database_id, admitted.asset_id, execution_id)
        if execution is None or not execution.is_active:
            self.progress.end(execution_id, "ABORTED")
            return
        if self._age(admitted) >= START_TIME:
            self._fail(execution_id, _NeverStartedError())
            return
        try:
            new_executions.require_allowed(execution.pipelines, self.runs.may_call)
            self.runs.start(execution_id, self.payloads.run_input(execution))
        except (RateLimitedError, UnavailableError):
            raise
        except VitrineError as error:
            self._fail(execution_id, error)
        else:
            now = self.clock()
            if not self.progress.record_started(execution_id, now):
                # It was stopped, or its asset deleted, while it was being started.
                self.runs.stop(execution_id, error=rules.STOPPED, cause="")
                return
            try:
                self.active.record_started(admitted, iso(now))
            except ExecutionChangedError:
                _log.info("execution %s ended while it was started", execution_id)

    def _fail(self, execution_id: str, error: VitrineError) -> None:
        _log.warning("execution %s cannot be started: %s", execution_id, error.message)
        self.progress.end(
            execution_id, "FAILED", error=RunError(code=error.code, message=error.message)
        )
