"""Executions of workflows as the API returns them."""

from typing import Final

from vitrine import replies
from vitrine.errors import VitrineError
from vitrine.replies import ExecutionError as ExecutionError
from vitrine.replies import Outputs as Outputs
from vitrine.replies import RefusedFile as RefusedFile
from vitrine.replies import RefusedOutput as RefusedOutput
from vitrine.replies import StartedExecution as StartedExecution
from vitrine.replies import StartedFile as StartedFile
from vitrine.replies import Step as Step

ENDED: Final = frozenset({"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"})
"""The final states of an execution."""
SUCCEEDED: Final = "SUCCEEDED"


class Execution(replies.Execution):
    """An execution: its input, its state, and, if it was read alone, its outputs."""

    @property
    def has_ended(self) -> bool:
        return self.execution_status in ENDED

    @property
    def reason(self) -> str | None:
        """Return why it did not succeed, in one line."""
        if self.error is None:
            return None
        return ": ".join(part for part in (self.error.code, self.error.message) if part)


class ExecutionFailedError(VitrineError):
    """The execution did not succeed, or did not end within the time."""

    def __init__(self, execution: Execution, fact: str) -> None:
        self.execution = execution
        reason = f": {execution.reason}" if execution.reason else ""
        super().__init__(f"execution {execution.execution_id} {fact}{reason}")
