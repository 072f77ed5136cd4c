"""The routes of executions."""

from collections.abc import Callable, Mapping

from backend.core.definitions import DefinitionRef
from backend.core.paging import Page
from backend.core.runs import StepState
from backend.domains.assets.models import AssetPath
from backend.domains.executions.models import Execution
from backend.domains.executions.models.replies import (
    ExecutionDetail,
    ExecutionDoneReply,
    ExecutionItem,
    ExecutionPage,
    ExecutionPath,
    ExecutionReply,
    ExecutionsQuery,
    ExecutionsReply,
    ExecutionStep,
    RefusedFile,
    StartBody,
    StartedFile,
    StartReply,
    WorkflowExecutionsBody,
    WorkflowExecutionsPath,
    WorkflowExecutionsQuery,
    WorkflowRunPath,
)
from backend.domains.executions.rules.payloads import output_folder
from backend.domains.executions.service.commands import ExecutionCommands
from backend.domains.executions.service.queries import ExecutionQueries
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes

_NONE_STARTED = 409

LinkOf = Callable[[str], str]
"""Returns the address of an execution in the Step Functions console."""


def build_router(commands: ExecutionCommands, queries: ExecutionQueries, link: LinkOf) -> Router:
    """Bind the routes of executions to the services."""
    router = Router()
    _bind_reads(router, queries, link)
    _bind_writes(router, commands)
    return router


def _bind_reads(router: Router, queries: ExecutionQueries, link: LinkOf) -> None:
    @router.bind(routes.LIST_EXECUTIONS)
    def list_executions(call: Call, path: AssetPath, query: ExecutionsQuery) -> ExecutionsReply:
        page = call.page(query)
        return _page(call, queries.list_executions(call.caller, path.ref, page))

    @router.bind(routes.LIST_WORKFLOW_EXECUTIONS)
    def list_workflow_executions(
        call: Call,
        path: WorkflowExecutionsPath,
        query: WorkflowExecutionsQuery,
        body: WorkflowExecutionsBody,
    ) -> ExecutionsReply:
        database_id = query.workflow_database_id or body.workflow_database_id
        page = call.page(query)
        executions = queries.list_executions(
            call.caller, path.ref, page, workflow=(database_id, path.workflow_id)
        )
        return _page(call, executions)

    @router.bind(routes.GET_EXECUTION)
    def get_execution(call: Call, path: ExecutionPath) -> ExecutionReply:
        execution = queries.get_execution(call.caller, path.ref, path.execution_id)
        return ExecutionReply(message=_detail(execution, queries.steps(execution), link))


def _bind_writes(router: Router, commands: ExecutionCommands) -> None:
    @router.bind(routes.START_EXECUTION)
    def start_execution(call: Call, path: WorkflowRunPath, body: StartBody) -> Reply[StartReply]:
        workflow = DefinitionRef(body.workflow_database_id, path.workflow_id)
        if body.file_keys is None:
            started = commands.start_execution(call.caller, path.ref, workflow, body.file_key)
            return Reply(StartReply(message=started))
        runs = commands.start_executions(call.caller, path.ref, workflow, body.file_keys)
        started = [
            StartedFile(file_key=run.file_key, execution_id=run.execution_id)
            for run in runs
            if run.execution_id is not None
        ]
        refused = [
            RefusedFile(file_key=run.file_key, code=run.refused.code, message=run.refused.message)
            for run in runs
            if run.refused is not None
        ]
        message = started[0].execution_id if started else "No execution was started"
        reply = StartReply(message=message, executions=started, refused=refused)
        return Reply(reply, status=200 if started else _NONE_STARTED)

    @router.bind(routes.STOP_EXECUTION)
    def stop_execution(call: Call, path: ExecutionPath) -> ExecutionDoneReply:
        execution = commands.stop_execution(call.caller, path.ref, path.execution_id)
        return ExecutionDoneReply(
            message=f"Execution {execution.execution_id} has already ended: "
            f"{execution.execution_status}"
        )

    @router.bind(routes.RERUN_EXECUTION)
    def rerun_execution(call: Call, path: ExecutionPath) -> StartReply:
        started = commands.rerun_execution(call.caller, path.ref, path.execution_id)
        return StartReply(message=started)


def _page(call: Call, page: Page[Execution]) -> ExecutionsReply:
    items = [ExecutionItem.of(execution) for execution in page.items]
    return ExecutionsReply(
        message=ExecutionPage(items=items, next_token=call.next_token(page.after))
    )


def _detail(execution: Execution, states: Mapping[int, StepState], link: LinkOf) -> ExecutionDetail:
    values = execution.model_dump() | {
        "steps": [
            _step(execution, number, states.get(number))
            for number in range(1, len(execution.pipelines) + 1)
        ],
        "log_link": link(execution.execution_id),
    }
    return ExecutionDetail.model_validate(values)


def _step(execution: Execution, number: int, state: StepState | None) -> ExecutionStep:
    pipeline = execution.pipelines[number - 1]
    return ExecutionStep.model_validate(
        {
            **pipeline.model_dump(),
            "number": number,
            "wait_for_callback": "Enabled" if pipeline.wait_for_callback else "Disabled",
            "output_prefix": output_folder(execution.execution_id, number),
            "state": state and state.status,
            "started_at": state and state.started_at,
            "stopped_at": state and state.stopped_at,
        }
    )
