"""Lists of executions at their largest, as `list_rows` has the other lists."""

from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.access.matrix.world import World
from tests.unit.large.list_rows import STATUE, Rows, make_statue, named, under

WORKFLOW = {"workflowDatabaseId": "museum"}


def make_execution(world: World) -> str:
    make_statue(world)
    world.done(routes.PUT_PIPELINE, body=pipeline_body())
    world.done(routes.PUT_WORKFLOW, body=workflow_body())
    path = {**STATUE, "workflowId": "publish"}
    return world.done(routes.START_EXECUTION, path, WORKFLOW)["message"]


_ROWS = Rows(make_execution, named("executionId"), 1100, STATUE, rows=under("message", "Items"))
EXECUTION_LISTS: dict[Route, Rows] = {
    routes.LIST_EXECUTIONS: _ROWS,
    routes.LIST_WORKFLOW_EXECUTIONS: _ROWS._replace(
        path={**STATUE, "workflowId": "publish"}, query=WORKFLOW
    ),
}
