"""Reads workflows, for their routes and for executions."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from backend.core.authorization import Authorization, Secured
from backend.core.identity import Identity
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest
from backend.domains.pipelines.models import Pipeline
from backend.domains.pipelines.service.queries import secured as secured_pipeline
from backend.domains.workflows.errors import WorkflowNotFoundError
from backend.domains.workflows.models import Workflow
from backend.domains.workflows.repository import WorkflowRepository


@dataclass(eq=False, repr=False)
class WorkflowQueries:
    """Reads workflows. `is_processed` returns whether shipped ones run on a database's uploads."""

    workflows: WorkflowRepository
    authorization: Authorization
    is_processed: Callable[[str], bool]

    def get_workflow(
        self, caller: Identity, database_id: str, workflow_id: str, *, show_deleted: bool = False
    ) -> Workflow:
        """Return one workflow; with `show_deleted` the last deleted one with that id.

        Raises:
            WorkflowNotFoundError: it does not exist, or the caller may not see it.
        """
        workflow = self.workflows.get(database_id, workflow_id, deleted=show_deleted)
        if workflow is None or not self.may_see(caller, workflow):
            raise WorkflowNotFoundError(workflow_id)
        return workflow

    def find_workflow(self, database_id: str, workflow_id: str) -> Workflow | None:
        """Return the active workflow with an id. No permission is checked."""
        return self.workflows.get(database_id, workflow_id)

    def list_workflows(
        self,
        caller: Identity,
        page: PageRequest,
        *,
        database_id: str | None = None,
        show_deleted: bool = False,
    ) -> Page[Workflow]:
        """List the active, or the deleted, workflows that the caller may see.

        Of a database, or of all.
        """
        return self.workflows.list_visible(
            page,
            lambda workflow: self.may_see(caller, workflow),
            database_id=database_id,
            deleted=show_deleted,
        )

    def may_see(self, caller: Identity, workflow: Workflow) -> bool:
        return self.authorization.may(caller, "GET", secured(workflow))

    def triggered_by(self, database_id: str, paths: Collection[str]) -> dict[str, list[Workflow]]:
        """Return the workflows that uploads of files start, by path. No permission is checked.

        They are those of the files' database and of GLOBAL, in the order of their ids. Shipped ones
        are left out if the deployment or the database disables processing.
        """
        known = (*self.workflows.all_in(database_id), *self.workflows.all_in(GLOBAL))
        workflows = {
            path: [workflow for workflow in known if workflow.is_triggered_by(path)]
            for path in paths
        }
        with_shipped = any(
            workflow.has_shipped_id for some in workflows.values() for workflow in some
        )
        if with_shipped and not self.is_processed(database_id):
            return {
                path: [workflow for workflow in some if not workflow.has_shipped_id]
                for path, some in workflows.items()
            }
        return workflows


def secured(workflow: Workflow) -> Secured:
    """Return a workflow as permissions see it."""
    fields = {"databaseId": workflow.database_id, "workflowId": workflow.workflow_id}
    return Secured("workflow", fields)


def not_runnable(
    authorization: Authorization, caller: Identity, workflow: Workflow, used: Iterable[Pipeline]
) -> str | None:
    """Return the workflow or the pipeline that the caller may not run; None if there is none."""
    targets = {f"the workflow {workflow.workflow_id}": secured(workflow)} | {
        f"the pipeline {pipeline.pipeline_id}": secured_pipeline(pipeline) for pipeline in used
    }
    # GET and POST, as to run it by hand: uploads of any user start a stored trigger (decision 45).
    for name, target in targets.items():
        if not all(authorization.may(caller, action, target) for action in ("GET", "POST")):
            return name
    return None


def attributes(workflow: Workflow) -> dict[str, Any]:
    """Return a workflow as its audit entries contain it."""
    return workflow.model_dump(by_alias=True, exclude_none=True, exclude={"revision"})
