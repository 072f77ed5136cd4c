"""The errors of executions."""

from backend.core.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    StateForbidsError,
)
from backend.domains.executions.models import RunTarget


class ForeignWorkflowError(InvalidInputError):
    """The workflow belongs to another database and cannot run on this asset."""

    code = "ForeignWorkflow"

    def __init__(self, workflow_database_id: str) -> None:
        super().__init__(
            f"workflowDatabaseId: a workflow of {workflow_database_id} can only run on "
            "assets of that database; workflows of GLOBAL can run on all assets"
        )


class PipelineDisabledError(InvalidInputError):
    """A pipeline of the workflow is disabled."""

    code = "PipelineDisabled"

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(f"Pipeline {pipeline_id} of the workflow is disabled")


class PipelineNotAllowedError(InvalidInputError):
    """A pipeline uses a function, queue or event bus that the settings do not allow."""

    code = "PipelineNotAllowed"

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(
            f"Pipeline {pipeline_id} uses a function, queue or event bus that the "
            "deployment's settings do not allow"
        )


class FileRequiredError(InvalidInputError):
    """The first pipeline of the workflow reads a single file, and none is named."""

    code = "FileRequired"

    def __init__(self, pipeline_id: str) -> None:
        super().__init__(
            f"fileKey: pipeline {pipeline_id} of the workflow reads a single file, so the "
            "workflow cannot run on a whole asset; send fileKey, or up to 50 files in fileKeys"
        )


class FullError(StateForbidsError):
    """The limit of concurrent executions is reached."""

    code = "ExecutionsFull"

    def __init__(self) -> None:
        super().__init__("The limit of concurrent executions is reached; try again later")


class ExecutionNotFoundError(NotFoundError):
    code = "ExecutionNotFound"

    def __init__(self, execution_id: str) -> None:
        super().__init__(f"Execution {execution_id} does not exist")


class ExecutionExistsError(AlreadyExistsError):
    code = "ExecutionExists"

    def __init__(self, execution_id: str) -> None:
        super().__init__(f"Execution {execution_id} already exists")


class ExecutionActiveError(StateForbidsError):
    """The workflow already has an active execution on this file or asset."""

    code = "ExecutionActive"

    def __init__(self, target: RunTarget, execution_id: str) -> None:
        what = f"the file {target.file_key}" if target.file_key else f"asset {target.asset_id}"
        super().__init__(
            f"Execution {execution_id} of workflow {target.workflow_id} on {what} is still active"
        )
        self.execution_id = execution_id


class ExecutionChangedError(StateForbidsError):
    """The execution was changed by another process after it was read."""

    code = "ExecutionChanged"

    def __init__(self, execution_id: str) -> None:
        super().__init__(f"Execution {execution_id} was changed by someone else; read it again")
