"""Executions of workflows as the API returns them."""

from typing import Final

from vitrine import api_models
from vitrine.api_models import ExecutionError as ExecutionError
from vitrine.api_models import Outputs as Outputs
from vitrine.api_models import RefusedFile as RefusedFile
from vitrine.api_models import RefusedOutput as RefusedOutput
from vitrine.api_models import StartedExecution as StartedExecution
from vitrine.api_models import StartedFile as StartedFile
from vitrine.api_models import Step as Step
from vitrine.errors import VitrineError

ENDED: Final = frozenset({"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"})
"""The final states of an execution."""
SUCCEEDED: Final = "SUCCEEDED"


class Execution(api_models.Execution):
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
