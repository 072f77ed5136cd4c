"""Executions and their parts, as stored."""

from typing import Literal

from pydantic import Field

from backend.core.models import WireModel
from backend.spec.keys import WORKFLOW
from backend.spec.shipped import SHIPPED
from backend.values import frozen

ExecutionStatus = Literal["NEW", "RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
EndStatus = Literal["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
Trigger = Literal["user", "upload", "rerun", "renewal"]

_OWN_FUNCTIONS = frozenset(shipped.function for shipped in SHIPPED)
ACTIVE: tuple[ExecutionStatus, ...] = ("NEW", "RUNNING")


class PipelineSnapshot(WireModel):
    """A pipeline as it was when the execution started: later changes do not affect the run.

    `resource` is the ARN of a function or an event bus, or the URL of a queue.
    """

    pipeline_id: str
    database_id: str
    pipeline_type: str = "standardFile"
    pipeline_execution_type: Literal["Lambda", "SQS", "EventBridge"]
    resource: str
    output_type: str = ""
    wait_for_callback: bool = False
    task_timeout: int
    task_heartbeat_timeout: int
    input_parameters: str = ""
    source: str = ""
    detail_type: str = ""

    @property
    def inspects(self) -> bool:
        """Return whether it calls a function of the product, which reads a single file."""
        return self.pipeline_execution_type == "Lambda" and self.resource in _OWN_FUNCTIONS


class RunError(WireModel):
    """Why an execution failed: the error name and cause from Step Functions."""

    code: str
    message: str


class RefusedOutput(WireModel):
    """An output that was not stored, and the reason."""

    path: str
    reason: str


class RunOutputs(WireModel):
    """Outputs that an execution stored: the paths of the first ones; the counts are totals."""

    files: list[str] = Field(default_factory=list)
    previews: list[str] = Field(default_factory=list)
    metadata: list[str] = Field(default_factory=list)
    refused: list[RefusedOutput] = Field(default_factory=list[RefusedOutput])
    file_count: int = 0
    preview_count: int = 0
    metadata_count: int = 0
    refused_count: int = 0


class Execution(WireModel):
    """An execution as stored.

    `input_asset_file_key` is the S3 key of the input file, empty for a run on the whole asset.
    `chain` are the keys of the workflows whose outputs led to this run, this one's last. `shipped`
    marks runs of only a function of the product, whose results the system stores. `repeats` counts
    the executions before it that were interrupted.
    """

    database_id: str
    asset_id: str
    execution_id: str
    workflow_database_id: str
    workflow_id: str
    input_asset_file_key: str = ""
    input_version_id: str = ""
    execution_status: ExecutionStatus = "NEW"
    start_date: str = ""
    stop_date: str = ""
    started_at: str = ""
    stopped_at: str = ""
    created_at: str
    started_by: str
    started_by_mfa: bool = False
    trigger: Trigger = "user"
    chain: list[str] = Field(default_factory=list)
    pipelines: list[PipelineSnapshot] = Field(default_factory=list[PipelineSnapshot])
    error: RunError | None = None
    outputs: RunOutputs | None = None
    shipped: bool = False
    repeats: int = 0
    revision: int = 1

    @property
    def workflow_key(self) -> str:
        """Return the key of the workflow in composite keys and chains."""
        return WORKFLOW.build(self.workflow_database_id, self.workflow_id)

    @property
    def is_active(self) -> bool:
        return self.execution_status in ACTIVE


class ExecutionPlace(WireModel):
    """The item that finds an execution by its id alone."""

    database_id: str
    asset_id: str


class ActiveRun(WireModel):
    """The reservation of a workflow and file while an execution of it is active.

    `next_upload` is the message of an upload of the file that arrived meanwhile.
    """

    execution_id: str
    next_upload: str | None = None


class ActiveExecution(WireModel):
    """The item of an execution that has not ended.

    `since` is when it was created, or admitted; `reservation` the key of its `ActiveRun`; `user`
    who started it, empty in items of earlier versions. `started_at` is set once Step Functions has
    it.
    """

    state: Literal["waiting", "admitted"]
    execution_id: str
    database_id: str
    asset_id: str
    reservation: str
    since: str
    user: str = ""
    started_at: str | None = None


@frozen
class RunTarget:
    """The subject of a run: a workflow, an asset, and a file of it (an S3 key, or none)."""

    workflow_database_id: str
    workflow_id: str
    database_id: str
    asset_id: str
    file_key: str = ""
