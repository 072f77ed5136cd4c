"""Creating, changing, listing and deleting workflows, and which uploads run them."""

import json
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.entrypoints.wiring.workflows import workflows
from backend.spec import routes
from backend.spec.routes import Action
from backend.spec.tables.workflows import WORKFLOWS
from tests.factories.access import OnlyUser
from tests.factories.workflows import CONVERT_ARN, Json, pipeline_body, workflow_body
from tests.unit.domains.audit.product import Product
from tests.unit.domains.definitions import Definitions

PUBLISH = {"databaseId": "museum", "workflowId": "publish"}
FIRST = "specifiedPipelines.functions.0"


@pytest.fixture(autouse=True)
def pipeline(definitions: Definitions) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body(inputParameters='{"quality": 1}'))


def test_a_workflow_holds_copies_of_its_pipelines(definitions: Definitions) -> None:
    body = workflow_body(autoTriggerOnFileExtensionsUpload="glb, .E57,glb")
    body["specifiedPipelines"]["functions"][0] |= {
        "pipelineType": "previewFile",
        "userProvidedResource": '{"resourceId": "AssetsApi", "resourceType": "Lambda"}',
        "inputParameters": None,
        "object__type": "pipeline",
    }
    answer = definitions.send(routes.PUT_WORKFLOW, body)
    assert (answer.status, answer.body) == (200, {"message": "Workflow publish was stored"})
    assert answer.headers["X-Ignored-Fields"] == f"{FIRST}.object__type"
    workflow = definitions.workflow()
    (function,) = workflow["specifiedPipelines"]["functions"]
    resource = json.loads(function.pop("userProvidedResource"))
    assert resource["resourceId"] == CONVERT_ARN
    assert function == {
        "name": "convert",
        "databaseId": "museum",
        "pipelineType": "standardFile",
        "pipelineExecutionType": "Lambda",
        "outputType": ".glb",
        "waitForCallback": "Disabled",
        "inputParameters": '{"quality": 1}',
    }
    assert workflow["autoTriggerOnFileExtensionsUpload"] == ".glb,.e57"
    body = workflow_body()
    body["specifiedPipelines"]["functions"][0]["inputParameters"] = '{"quality": 9}'
    definitions.done(routes.PUT_WORKFLOW, body)
    assert _parameters(definitions) == ['{"quality": 9}']


@pytest.mark.parametrize(
    ("more", "field", "output"),
    [
        ({"pipelines": [("museum", "render")]}, f"{FIRST}.name", "render does not exist in museum"),
        ({"pipelines": [("gallery", "convert")]}, f"{FIRST}.databaseId", "museum or GLOBAL"),
        ({"pipelines": []}, "specifiedPipelines.functions", "1"),
        ({"pipelines": [("museum", "convert")] * 21}, "specifiedPipelines.functions", "20"),
        ({"database_id": "GLOBAL"}, f"{FIRST}.databaseId", "must be GLOBAL"),
        ({"database_id": "nowhere", "pipelines": [("GLOBAL", "all")]}, "databaseId", "nowhere"),
        ({"autoTriggerOnFileExtensionsUpload": "g-b"},
         "autoTriggerOnFileExtensionsUpload", "extension"),
        ({"description": "abc"}, "description", "4"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_and_named(
    definitions: Definitions, more: dict[str, Any], field: str, output: str
) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body("anyone", "GLOBAL"))
    if more.get("pipelines") == [("GLOBAL", "all")]:
        more = {**more, "pipelines": [("GLOBAL", "anyone")]}
    status, named, message = definitions.refused(routes.PUT_WORKFLOW, workflow_body(**more))
    assert (status, named) == (400, [field])
    assert output in message
    assert not definitions.product.tables.rows(WORKFLOWS)


def test_a_pipeline_can_be_deleted_once_no_workflow_uses_it(definitions: Definitions) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body("render", "GLOBAL"))
    used = [("museum", "convert"), ("GLOBAL", "render"), ("museum", "convert")]
    definitions.done(routes.PUT_WORKFLOW, workflow_body(pipelines=used))
    functions = definitions.workflow()["specifiedPipelines"]["functions"]
    assert [(function["databaseId"], function["name"]) for function in functions] == used
    assert definitions.send(routes.DELETE_PIPELINE, databaseId="GLOBAL", pipelineId="render"
    ).status == 400  # fmt: skip
    definitions.done(routes.PUT_PIPELINE, pipeline_body("render"))
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    definitions.done(routes.PUT_WORKFLOW, workflow_body(pipelines=[("museum", "render")]))
    definitions.done(routes.DELETE_PIPELINE, databaseId="museum", pipelineId="convert")
    definitions.done(routes.DELETE_WORKFLOW, **PUBLISH)
    definitions.done(routes.DELETE_PIPELINE, databaseId="museum", pipelineId="render")


def test_a_changed_pipeline_reaches_workflows_only_on_request(
    definitions: Definitions,
) -> None:
    for number in range(12):  # more than one transaction takes
        definitions.done(routes.PUT_WORKFLOW, workflow_body(f"publish-{number}"))
    changed = pipeline_body(inputParameters='{"quality": 2}')
    definitions.done(routes.PUT_PIPELINE, changed)
    assert _parameters(definitions, "publish-0") == ['{"quality": 1}']
    answer = definitions.done(routes.PUT_PIPELINE, {**changed, "updateAssociatedWorkflows": True})
    assert answer["message"] == "Pipeline convert was stored; workflows updated: 12"
    for number in range(12):
        assert _parameters(definitions, f"publish-{number}") == ['{"quality": 2}']
    updated = [
        entry
        for entry in definitions.product.entries
        if entry["operation"] == "put_workflow" and "before" in str(entry["changes"])
    ]
    assert {entry["entity"] for entry in updated} >= {"workflow:museum:publish-11"}


class KeepsWorkflows(OnlyUser):
    """May do everything, but change the workflow `kept` once it is there."""

    closed = False

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        is_kept = target.fields.get("workflowId") == "kept" and action == "PUT"
        return not (self.closed and is_kept) and OnlyUser.may(self, caller, action, target)


def test_workflows_that_the_caller_may_not_change_are_not_changed() -> None:
    rights = KeepsWorkflows()
    definitions = Definitions(Product(rights))
    definitions.done(routes.PUT_PIPELINE, pipeline_body(inputParameters="1"))
    for name in ("kept", "publish"):
        definitions.done(routes.PUT_WORKFLOW, workflow_body(name))
    KeepsWorkflows.closed = True
    body = pipeline_body(inputParameters="2", updateAssociatedWorkflows=True)
    try:
        answer = definitions.done(routes.PUT_PIPELINE, body)
    finally:
        KeepsWorkflows.closed = False
    assert answer["message"].endswith(
        "workflows updated: 1; workflows that you have no permission to change: 1"
    )
    assert (_parameters(definitions, "kept"), _parameters(definitions)) == (["1"], ["2"])


def test_uploads_run_active_workflows_of_database_and_global(definitions: Definitions) -> None:
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    definitions.done(routes.DELETE_WORKFLOW, **PUBLISH)
    answer = definitions.send(routes.GET_WORKFLOW, **PUBLISH)
    assert (answer.status, answer.body["message"]) == (404, {})
    assert definitions.send(routes.DELETE_WORKFLOW, **PUBLISH).status == 404
    for route, of in ((routes.LIST_ALL_WORKFLOWS, {}), (routes.LIST_WORKFLOWS, PUBLISH)):
        path = {name: value for name, value in of.items() if name == "databaseId"}
        assert definitions.done(route, **path)["message"]["Items"] == []
        message = definitions.done(route, **path, query={"showDeleted": "true"})["message"]
        assert [row["workflowId"] for row in message["Items"]] == ["publish"]
    definitions.done(routes.PUT_PIPELINE, pipeline_body("render", "GLOBAL"))
    of_global: Json = {"database_id": "GLOBAL", "pipelines": [("GLOBAL", "render")]}
    triggers = "autoTriggerOnFileExtensionsUpload"
    definitions.done(routes.PUT_WORKFLOW, {**workflow_body("glbs"), triggers: "glb"})
    definitions.done(routes.PUT_WORKFLOW, workflow_body("none"))
    all_files = {**workflow_body("every", **of_global), triggers: "all"}
    definitions.done(routes.PUT_WORKFLOW, all_files)
    queries = workflows(definitions.product.context)

    def triggered(database_id: str, path: str) -> list[str]:
        return [item.workflow_id for item in queries.triggered_by(database_id, [path])[path]]

    assert triggered("museum", "/a/B.GLB") == ["glbs", "every"]
    assert triggered("museum", "/a/b.obj") == ["every"]
    assert triggered("museum", "/README") == ["every"]
    assert triggered("gallery", "/b.glb") == ["every"]


def _parameters(definitions: Definitions, workflow_id: str = "publish") -> list[str]:
    functions = definitions.workflow(workflow_id)["specifiedPipelines"]["functions"]
    return [function["inputParameters"] for function in functions]
