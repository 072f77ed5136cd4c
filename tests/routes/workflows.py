"""Routes of pipelines and workflows."""

from backend.spec import routes
from tests.factories.workflows import pipeline_body
from tests.routes import contents
from tests.routes.model import OF_DEFINITIONS, Case, Rows, Target, in_body
from tests.routes.needs import allow_all, check_new_pipeline, check_new_workflow
from tests.routes.rows import make_pipeline, make_workflow
from tests.unit.domains.access.matrix.seeding import publishing
from tests.unit.domains.access.matrix.world import Question

_PIPELINE, _WORKFLOW = "pipeline:museum:convert-museum", "workflow:museum:publish-museum"


def _pipeline_id(target: Target) -> str:
    return f"convert-{target.database_id}"


def _workflow_id(target: Target) -> str:
    return f"publish-{target.database_id}"


def _pipeline(target: Target) -> Question:
    return Question({"databaseId": target.database_id, "pipelineId": _pipeline_id(target)})


def _workflow(target: Target) -> Question:
    return Question({"databaseId": target.database_id, "workflowId": _workflow_id(target)})


CASES = (
    Case(routes.PUT_PIPELINE, in_body(lambda target: pipeline_body(_pipeline_id(target),
         target.database_id)), OF_DEFINITIONS, audit=_PIPELINE, needs=check_new_pipeline),
    Case(routes.LIST_ALL_PIPELINES, lambda target: Question({}, shows=f"'{_pipeline_id(target)}'"),
         OF_DEFINITIONS, rows=Rows(make_pipeline, "pipelineId", 250),
         needs=allow_all, content=contents.ALL_PIPELINES),
    Case(routes.LIST_PIPELINES, lambda target: Question({"databaseId": target.database_id},
         shows=f"'{_pipeline_id(target)}'"), OF_DEFINITIONS, rows=Rows(make_pipeline, "pipelineId",
         250, state="GLOBAL"), needs=allow_all, content=contents.PIPELINES_OF_DATABASE),
    Case(routes.GET_PIPELINE, _pipeline, OF_DEFINITIONS),
    Case(routes.DELETE_PIPELINE, _pipeline, OF_DEFINITIONS, audit=_PIPELINE),
    Case(routes.PUT_WORKFLOW, in_body(lambda target: publishing(target.database_id)),
         OF_DEFINITIONS, audit=_WORKFLOW, needs=check_new_workflow),
    Case(routes.LIST_ALL_WORKFLOWS, lambda target: Question({}, shows=f"'{_workflow_id(target)}'"),
         OF_DEFINITIONS, rows=Rows(make_workflow, "workflowId", 30),
         needs=allow_all, content=contents.ALL_WORKFLOWS),
    Case(routes.LIST_WORKFLOWS, lambda target: Question({"databaseId": target.database_id},
         shows=f"'{_workflow_id(target)}'"), OF_DEFINITIONS, rows=Rows(make_workflow, "workflowId",
         30, state="GLOBAL"), needs=allow_all, content=contents.WORKFLOWS_OF_DATABASE),
    Case(routes.GET_WORKFLOW, _workflow, OF_DEFINITIONS),
    Case(routes.DELETE_WORKFLOW, _workflow, OF_DEFINITIONS, audit=_WORKFLOW),
)  # fmt: skip
