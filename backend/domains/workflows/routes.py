"""The routes of workflows."""

from backend.core.paging import Page
from backend.domains.workflows.models import PutWorkflowBody, Workflow
from backend.domains.workflows.models.replies import (
    DatabaseWorkflowsPath,
    WorkflowDoneReply,
    WorkflowItem,
    WorkflowPage,
    WorkflowPath,
    WorkflowQuery,
    WorkflowReply,
    WorkflowsQuery,
    WorkflowsReply,
)
from backend.domains.workflows.service.commands import WorkflowCommands
from backend.domains.workflows.service.queries import WorkflowQueries
from backend.domains.workflows.service.triggers import WorkflowTriggers
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(
    queries: WorkflowQueries, commands: WorkflowCommands, triggers: WorkflowTriggers
) -> Router:
    """Bind the routes of workflows to the services."""
    router = Router()
    _bind_reads(router, queries, triggers)
    _bind_writes(router, commands)
    return router


def _bind_reads(router: Router, queries: WorkflowQueries, triggers: WorkflowTriggers) -> None:
    @router.bind(routes.LIST_ALL_WORKFLOWS)
    def list_all_workflows(call: Call, query: WorkflowsQuery) -> WorkflowsReply:
        page = queries.list_workflows(
            call.caller, call.page(query), show_deleted=query.show_deleted
        )
        return _page(call, triggers, page)

    @router.bind(routes.LIST_WORKFLOWS)
    def list_workflows(
        call: Call, path: DatabaseWorkflowsPath, query: WorkflowsQuery
    ) -> WorkflowsReply:
        page = queries.list_workflows(
            call.caller,
            call.page(query),
            database_id=path.database_id,
            show_deleted=query.show_deleted,
        )
        return _page(call, triggers, page)

    @router.bind(routes.GET_WORKFLOW)
    def get_workflow(call: Call, path: WorkflowPath, query: WorkflowQuery) -> WorkflowReply:
        workflow = queries.get_workflow(
            call.caller, path.database_id, path.workflow_id, show_deleted=query.show_deleted
        )
        stopped = triggers.stop_reasons([workflow])
        return WorkflowReply(message=WorkflowItem.of(workflow, stopped.get(workflow.key)))


def _bind_writes(router: Router, commands: WorkflowCommands) -> None:
    @router.bind(routes.PUT_WORKFLOW)
    def put_workflow(call: Call, body: PutWorkflowBody) -> WorkflowDoneReply:
        workflow = commands.put_workflow(call.caller, body)
        return WorkflowDoneReply(message=f"Workflow {workflow.workflow_id} was stored")

    @router.bind(routes.DELETE_WORKFLOW)
    def delete_workflow(call: Call, path: WorkflowPath) -> WorkflowDoneReply:
        commands.delete_workflow(call.caller, path.database_id, path.workflow_id)
        return WorkflowDoneReply(message=f"Workflow {path.workflow_id} was deleted")


def _page(call: Call, triggers: WorkflowTriggers, page: Page[Workflow]) -> WorkflowsReply:
    stopped = triggers.stop_reasons(page.items)
    items = [WorkflowItem.of(workflow, stopped.get(workflow.key)) for workflow in page.items]
    return WorkflowsReply(message=WorkflowPage(items=items, next_token=call.next_token(page.after)))
