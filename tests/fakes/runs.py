"""The port `Runs` in memory: records executions, and lets a test end them."""

from collections.abc import Mapping
from typing import NamedTuple

from backend.core.errors import UnavailableError
from backend.core.runs import RunInput, RunState, RunStatus, StepState, TaskKind

STARTED_AT = "2026-01-02T03:04:05.678Z"


class StartedExecution(NamedTuple):
    """One execution that was started."""

    given: RunInput
    state: RunState


class FakeRuns:
    """Executions by id. `fail_next` is the number of calls that raise UnavailableError.

    `refused` contains the resources that the deployment does not allow.
    """

    def __init__(self) -> None:
        self.started: dict[str, StartedExecution] = {}
        self.fail_next = 0
        self.refused: set[str] = set()
        self.histories: dict[str, dict[int, StepState]] = {}

    def start(self, execution_id: str, given: RunInput) -> None:
        self._fail()
        known = self.started.get(execution_id)
        if known is None:
            self.started[execution_id] = StartedExecution(given, RunState("RUNNING", STARTED_AT))

    def stop(self, execution_id: str, *, error: str, cause: str) -> None:
        self._fail()
        if execution_id in self.started and self.started[execution_id].state.status == "RUNNING":
            self.end(execution_id, "ABORTED", error=error, cause=cause)

    def may_call(self, kind: TaskKind, resource: str) -> bool:
        return resource not in self.refused

    def describe(self, execution_id: str) -> RunState | None:
        self._fail()
        known = self.started.get(execution_id)
        return known.state if known else None

    def steps(self, execution_id: str) -> Mapping[int, StepState]:
        self._fail()
        return self.histories.get(execution_id, {})

    def end(
        self,
        execution_id: str,
        status: RunStatus,
        *,
        error: str | None = None,
        cause: str | None = None,
    ) -> None:
        """End an execution as the service would."""
        known = self.started[execution_id]
        state = RunState(status, known.state.started_at, STARTED_AT, error, cause)
        self.started[execution_id] = known._replace(state=state)

    def _fail(self) -> None:
        if self.fail_next:
            self.fail_next -= 1
            raise UnavailableError("Step Functions did not answer")
