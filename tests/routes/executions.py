"""Routes of executions."""

from backend.spec import routes
from tests.routes.model import IN_DATABASES, Case, PathField, Rows, Target, on_asset
from tests.routes.needs import check_execution
from tests.routes.rows import under
from tests.routes.rows_on_assets import make_execution
from tests.unit.domains.access.matrix.world import Question


def _workflow(target: Target) -> dict[str, str]:
    return {**target.asset, "workflowId": f"publish-{target.asset['databaseId']}"}


def _start(target: Target) -> Question:
    body = {"workflowDatabaseId": target.asset["databaseId"], "fileKey": "/a.txt"}
    return Question(_workflow(target), body=body)


def _of_workflow(target: Target) -> Question:
    return Question(_workflow(target), {"workflowDatabaseId": target.asset["databaseId"]})


def _on_execution(target: Target) -> Question:
    """A request for an execution that has ended."""
    execution_id = target.world.executions.get(target.state, "none-such")
    return Question({**target.asset, "executionId": execution_id})


def _stop(target: Target) -> Question:
    execution_id = target.world.running.get(target.state, "none-such")
    return Question({**target.asset, "executionId": execution_id})


CASES = (
    Case(routes.START_EXECUTION, _start, IN_DATABASES, audit="execution:",
         paths=(PathField("fileKey"),), needs=check_execution),
    Case(routes.LIST_EXECUTIONS, on_asset(), IN_DATABASES, rows=Rows(make_execution, "executionId",
         1100, under("message", "Items"))),
    Case(routes.LIST_WORKFLOW_EXECUTIONS, _of_workflow, IN_DATABASES, rows=Rows(make_execution,
         "executionId", 1100, under("message", "Items"))),
    Case(routes.GET_EXECUTION, _on_execution, IN_DATABASES, needs=check_execution),
    Case(routes.STOP_EXECUTION, _stop, IN_DATABASES,
         audit=lambda target: f"execution:{target.world.running[target.state]}",
         needs=check_execution),
    Case(routes.RERUN_EXECUTION, _on_execution, IN_DATABASES, audit="execution:",
         needs=check_execution),
)  # fmt: skip
