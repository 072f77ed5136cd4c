"""Executions of workflows as the API returns them."""

from pydantic import Field

from vitrine.models import Wire

ENDED = frozenset({"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"})


class ExecutionError(Wire):
    code: str
    message: str


class RefusedOutput(Wire):
    path: str
    reason: str


class ExecutionOutputs(Wire):
    """What an execution stored; of very many paths the first, and how many there are."""

    files: tuple[str, ...] = ()
    previews: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    refused: tuple[RefusedOutput, ...] = ()
    file_count: int = 0
    preview_count: int = 0
    metadata_count: int = 0
    refused_count: int = 0


class ExecutionStep(Wire):
    number: int
    pipeline_id: str
    database_id: str
    pipeline_execution_type: str
    output_prefix: str


class ExecutionSummary(Wire):
    """An execution in a list."""

    execution_id: str
    workflow_id: str
    workflow_database_id: str
    execution_status: str
    input_asset_file_key: str = ""
    start_date: str = ""
    stop_date: str = ""
    created_at: str | None = None
    started_at: str | None = None
    stopped_at: str | None = None
    started_by: str | None = None
    trigger: str | None = None
    error: ExecutionError | None = None

    @property
    def has_ended(self) -> bool:
        return self.execution_status in ENDED


class Execution(ExecutionSummary):
    database_id: str
    asset_id: str
    input_version_id: str = ""
    chain: tuple[str, ...] = ()
    steps: tuple[ExecutionStep, ...] = ()
    outputs: ExecutionOutputs = Field(default_factory=ExecutionOutputs)
    log_link: str | None = None


class StartedFile(Wire):
    file_key: str
    execution_id: str


class RefusedFile(Wire):
    file_key: str
    code: str
    message: str


class Started(Wire):
    """`message` is the execution's id, the first one of several."""

    message: str
    executions: tuple[StartedFile, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
