"""Parameters and replies of the routes of workflows; no other slice loads it."""

from typing import Annotated

from pydantic import Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import Id
from backend.domains.pipelines.models import DatabaseOrGlobal
from backend.domains.workflows.models import SpecifiedPipelines, Workflow


class DatabaseWorkflowsPath(WireModel):
    database_id: DatabaseOrGlobal


class WorkflowPath(DatabaseWorkflowsPath):
    workflow_id: Id


class WorkflowQuery(WireModel):
    show_deleted: bool = False


class WorkflowsQuery(PageQuery):
    show_deleted: bool = Field(
        default=False, description="List the deleted workflows instead of the active ones"
    )


class WorkflowItem(WireModel):
    """A workflow."""

    workflow_id: str
    database_id: str
    description: str
    specified_pipelines: SpecifiedPipelines
    auto_trigger_on_file_extensions_upload: str
    date_created: str
    date_modified: str
    stored_by: str | None = None
    trigger_stopped: str | None = None
    """Why uploads do not start the workflow although it has a trigger."""
    deleted_at: str | None = None
    deleted_by: str | None = None

    @classmethod
    def of(cls, workflow: Workflow, stopped: str | None) -> "WorkflowItem":
        return cls.model_validate({**workflow.model_dump(), "trigger_stopped": stopped})


class WorkflowPage(WireModel):
    items: Annotated[list[WorkflowItem], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class WorkflowsReply(WireModel):
    message: WorkflowPage


class WorkflowReply(WireModel):
    message: WorkflowItem


class WorkflowDoneReply(WireModel):
    message: str
