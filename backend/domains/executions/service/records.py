"""Executions for other slices: finds them by id, and records their outputs."""

from dataclasses import dataclass

from backend.domains.executions import rules
from backend.domains.executions.errors import ExecutionNotFoundError
from backend.domains.executions.models import Execution, RunOutputs
from backend.domains.executions.repository.rows import ExecutionRepository


@dataclass(eq=False, repr=False)
class ExecutionRecords:
    """No permission is checked: callers act for an execution that the product started."""

    executions: ExecutionRepository

    def find(self, execution_id: str) -> Execution | None:
        """Return an execution by its id alone; None if its asset was deleted."""
        return self.executions.find(execution_id)

    def record_outputs(self, execution_id: str, outputs: RunOutputs) -> None:
        """Replace the recorded outputs of an execution; no effect if repeated.

        Raises:
            ExecutionNotFoundError: the execution does not exist, or its asset was deleted.
        """
        execution = self.executions.find(execution_id)
        if execution is None:
            raise ExecutionNotFoundError(execution_id)
        self.executions.set_outputs(execution, rules.bound_outputs(outputs))
