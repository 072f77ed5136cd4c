"""Parameters, bodies and replies of the routes of executions; no other slice loads it."""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from backend.core.models import OptionalBody, PageQuery, SentModel, WireModel, WrongFieldError
from backend.core.names import Form, Id, Line
from backend.core.runs import StepStatus
from backend.domains.assets.models import AssetPath
from backend.domains.executions.models import (
    Execution,
    ExecutionStatus,
    RunError,
    RunOutputs,
    Trigger,
)
from backend.domains.pipelines.models import (
    Callback,
    DatabaseOrGlobal,
    ExecutionType,
    PipelineType,
)

# Files of one request to run a workflow; each is an execution with a transaction of its own.
MAX_FILES = 50
FileKey = Annotated[Line, Field(max_length=1024)]


class WorkflowRunPath(AssetPath):
    workflow_id: Id

    @field_validator("workflow_id")
    @classmethod
    def refuse_path_of_list(cls, value: str) -> str:
        if value == "executions":  # the path of the list, to which some clients POST
            raise ValueError(
                "must not be 'executions', which is the path of the list of executions"
            )
        return value


class ExecutionPath(AssetPath):
    execution_id: Annotated[
        str,
        Field(min_length=1, max_length=80),
        Form("[-_a-zA-Z0-9]+", "must be letters, digits, '-' or '_'"),
    ]


class WorkflowExecutionsPath(AssetPath):
    workflow_id: Id


class ExecutionsQuery(PageQuery):
    most_items = 50


class WorkflowExecutionsQuery(ExecutionsQuery):
    workflow_database_id: DatabaseOrGlobal | None = Field(
        default=None,
        description=("Id of the workflow's database, or `GLOBAL`; omitted: any database"),
    )


class WorkflowExecutionsBody(OptionalBody):
    """The body that VAMS clients send with this GET."""

    workflow_database_id: DatabaseOrGlobal | None = None


class StartBody(SentModel):
    """Starts a run on one file (`fileKey`), on several (`fileKeys`, one run each), or on the
    asset.
    """

    workflow_database_id: DatabaseOrGlobal
    file_key: FileKey = ""
    file_keys: Annotated[list[FileKey], Field(min_length=1, max_length=MAX_FILES)] | None = None

    @model_validator(mode="after")
    def files_once(self) -> "StartBody":
        if self.file_keys is None:
            return self
        if self.file_key:
            raise WrongFieldError("fileKeys", "must not be used together with fileKey")
        if len(set(self.file_keys)) < len(self.file_keys):
            raise WrongFieldError("fileKeys", "contains a file twice")
        return self


class StartedFile(WireModel):
    """The execution started for one of several files."""

    file_key: str
    execution_id: str


class RefusedFile(WireModel):
    """A file for which no execution was started, and the reason."""

    file_key: str
    code: str
    message: str


class StartReply(WireModel):
    """`message` is the id of the execution, or of the first one if several were started."""

    message: str
    executions: list[StartedFile] | None = None
    refused: list[RefusedFile] | None = None


class ExecutionDoneReply(WireModel):
    message: str


class ExecutionItem(WireModel):
    """An execution in a list. Dates are `MM/DD/YYYY, HH:MM:SS`, or empty if not known yet."""

    workflow_database_id: str
    workflow_id: str
    execution_id: str
    execution_status: ExecutionStatus
    start_date: str
    stop_date: str
    input_asset_file_key: str
    created_at: str
    started_at: str
    stopped_at: str
    started_by: str
    trigger: Trigger
    error: RunError | None = None

    @classmethod
    def of(cls, execution: Execution) -> "ExecutionItem":
        return cls.model_validate(execution.model_dump())


class ExecutionPage(WireModel):
    items: Annotated[list[ExecutionItem], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class ExecutionsReply(WireModel):
    message: ExecutionPage


class ExecutionStep(WireModel):
    """A pipeline of an execution, and its output prefix in the auxiliary bucket.

    State and times are those of Step Functions; a step that was not started has none.
    """

    number: int
    pipeline_id: str
    database_id: str
    pipeline_type: PipelineType
    pipeline_execution_type: ExecutionType
    wait_for_callback: Callback
    output_type: str
    task_timeout: int
    input_parameters: str
    output_prefix: str
    state: StepStatus | None = None
    started_at: str | None = None
    stopped_at: str | None = None


class ExecutionDetail(ExecutionItem):
    """`logLink` is the URL of the execution in the Step Functions console."""

    database_id: str
    asset_id: str
    input_version_id: str
    chain: list[str]
    steps: list[ExecutionStep]
    outputs: RunOutputs | None = None
    log_link: str


class ExecutionReply(WireModel):
    message: ExecutionDetail
