"""Executions of workflows as the API returns them."""

from typing import Final

from vitrine.errors import VitrineError
from vitrine.models import Wire

ENDED: Final = frozenset({"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"})
"""The states in which an execution remains."""
SUCCEEDED: Final = "SUCCEEDED"


class ExecutionError(Wire):
    """Why an execution did not succeed."""

    code: str | None = None
    message: str | None = None


class RefusedOutput(Wire):
    """An output that was not stored, and the reason."""

    path: str | None = None
    reason: str | None = None


class Outputs(Wire):
    """What an execution stored: the first paths, and the total counts."""

    files: tuple[str, ...] = ()
    previews: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    refused: tuple[RefusedOutput, ...] = ()
    file_count: int = 0
    preview_count: int = 0
    metadata_count: int = 0
    refused_count: int = 0


class Step(Wire):
    """A pipeline of an execution; one that was not started has no state and no times."""

    number: int | None = None
    pipeline_id: str | None = None
    database_id: str | None = None
    output_prefix: str | None = None
    state: str | None = None
    started_at: str | None = None
    stopped_at: str | None = None


class Execution(Wire):
    """An execution: its input, its state, and, if it was read alone, its outputs."""

    execution_id: str
    workflow_database_id: str | None = None
    workflow_id: str | None = None
    execution_status: str | None = None
    start_date: str | None = None
    stop_date: str | None = None
    started_at: str | None = None
    stopped_at: str | None = None
    created_at: str | None = None
    input_asset_file_key: str | None = None
    started_by: str | None = None
    trigger: str | None = None
    chain: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    log_link: str | None = None
    error: ExecutionError | None = None
    outputs: Outputs | None = None

    @property
    def has_ended(self) -> bool:
        return self.execution_status in ENDED

    @property
    def reason(self) -> str | None:
        """Return why it did not succeed, in one line."""
        if self.error is None:
            return None
        return ": ".join(part for part in (self.error.code, self.error.message) if part)


class StartedFile(Wire):
    """An execution on one of several files."""

    file_key: str
    execution_id: str


class RefusedFile(Wire):
    """A file for which no execution was started, and the reason."""

    file_key: str
    code: str | None = None
    message: str | None = None


class StartedExecution(Wire):
    """The id of the execution that was started, or one for each of several files."""

    message: str
    executions: tuple[StartedFile, ...] | None = None
    refused: tuple[RefusedFile, ...] | None = None


class ExecutionFailedError(VitrineError):
    """The execution did not succeed, or did not end within the time."""

    def __init__(self, execution: Execution, fact: str) -> None:
        self.execution = execution
        reason = f": {execution.reason}" if execution.reason else ""
        super().__init__(f"execution {execution.execution_id} {fact}{reason}")
