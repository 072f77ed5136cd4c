"""The errors of workflows."""

from backend.core.errors import NotFoundError, RevisionConflictError


class WorkflowNotFoundError(NotFoundError):
    code = "WorkflowNotFound"

    def __init__(self, workflow_id: str) -> None:
        super().__init__(f"Workflow {workflow_id} does not exist")


class WorkflowRevisionError(RevisionConflictError):
    code = "WorkflowRevisionConflict"

    def __init__(self, workflow_id: str) -> None:
        super().__init__(f"Workflow {workflow_id} was changed by someone else; read it again")
