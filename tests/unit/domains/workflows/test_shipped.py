"""The pipelines and workflows that ship: created once, kept as administrators leave them."""

from dataclasses import replace

import pytest

from backend.core.transactions import Update
from backend.domains.pipelines.repository import PipelineRepository
from backend.domains.pipelines.service.commands import ShippedPipelines
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service.commands import ShippedWorkflows
from backend.domains.workflows.service.queries import WorkflowQueries
from backend.entrypoints.wiring.workflows import workflows
from backend.spec import routes
from backend.spec.shipped import INSPECT, INSPECT_CAD, SHIPPED
from backend.spec.tables.assets import DATABASES
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.definitions import Definitions

IN_GLOBAL = [("GLOBAL", INSPECT.id)]


def ensure(definitions: Definitions, *shipped: str) -> None:
    """Run this part of the bootstrap; `shipped` are further extensions of a later release."""
    tables, clock = definitions.product.tables, definitions.product.clock
    later = (replace(INSPECT, extensions=(*INSPECT.extensions, *shipped)), INSPECT_CAD)
    pipelines = PipelineRepository(tables)
    ShippedPipelines(pipelines, clock).ensure(later)
    queries = PipelineQueries(pipelines, definitions.product.authorization)
    ShippedWorkflows(WorkflowRepository(tables), queries, clock).ensure(later)


def test_each_is_created_with_a_workflow_of_the_same_id(definitions: Definitions) -> None:
    ensure(definitions)
    for shipped in SHIPPED:
        found = definitions.workflow(shipped.id, "GLOBAL")
        (function,) = found["specifiedPipelines"]["functions"]
        assert function["name"] == shipped.id
        assert f'"resourceId":"{shipped.function}"' in function["userProvidedResource"]
        assert found["autoTriggerOnFileExtensionsUpload"] == ",".join(shipped.extensions)


def test_another_run_changes_nothing_but_follows_the_declaration(definitions: Definitions) -> None:
    ensure(definitions)
    rows = dict(definitions.product.tables.items)
    ensure(definitions)
    assert definitions.product.tables.items == rows
    ensure(definitions, ".usd")
    triggers = definitions.workflow(INSPECT.id, "GLOBAL")["autoTriggerOnFileExtensionsUpload"]
    assert triggers.endswith(",.usd")


def test_what_an_administrator_changed_is_not_changed_back(definitions: Definitions) -> None:
    ensure(definitions)
    body = workflow_body(INSPECT.id, "GLOBAL", IN_GLOBAL, autoTriggerOnFileExtensionsUpload=".stl")
    definitions.done(routes.PUT_WORKFLOW, body)
    path = {"databaseId": "GLOBAL", "workflowId": INSPECT_CAD.id}
    definitions.done(routes.DELETE_WORKFLOW, **path)
    ensure(definitions, ".usd")
    found = definitions.workflow(INSPECT.id, "GLOBAL")
    assert found["autoTriggerOnFileExtensionsUpload"] == ".stl"
    assert definitions.send(routes.GET_WORKFLOW, **path).status == 404
    definitions.done(routes.DELETE_PIPELINE, databaseId="GLOBAL", pipelineId=INSPECT_CAD.id)
    ensure(definitions)
    assert definitions.send(routes.GET_WORKFLOW, **path).status == 404


@pytest.mark.parametrize("switch", ["deployment", "database"])
def test_they_run_on_uploads_unless_switched_off(definitions: Definitions, switch: str) -> None:
    ensure(definitions)
    triggers = {"autoTriggerOnFileExtensionsUpload": ".glb"}
    definitions.done(routes.PUT_WORKFLOW, workflow_body("own", "GLOBAL", IN_GLOBAL, **triggers)
                     | {"workflowId": "other"})  # fmt: skip
    context = definitions.product.context
    before = workflows(context).triggered_by("museum", ["/a.glb"])["/a.glb"]
    assert [one.workflow_id for one in before] == ["other", INSPECT.id]
    queries = workflows(context)
    if switch == "deployment":
        queries = WorkflowQueries(queries.workflows, queries.authorization, lambda _: False)
    else:
        definitions.done(routes.UPDATE_DATABASE, {"processing": False}, databaseId="museum")
        assert definitions.done(routes.GET_DATABASE, databaseId="museum")["processing"] is False
    assert [one.workflow_id for one in queries.triggered_by("museum", ["/a.glb"])["/a.glb"]] == [
        "other"
    ]


def test_databases_from_before_the_switch_are_processed(definitions: Definitions) -> None:
    ensure(definitions)
    old = Update(table=DATABASES, key={"databaseId": "museum"}, remove=("processing",))
    definitions.product.tables.write(old)
    found = workflows(definitions.product.context).triggered_by("museum", ["/a.glb"])["/a.glb"]
    assert [one.workflow_id for one in found] == [INSPECT.id]


def test_only_workflows_of_the_products_functions_have_its_rights(
    definitions: Definitions,
) -> None:
    ensure(definitions)
    definitions.done(routes.PUT_PIPELINE, pipeline_body("render", "GLOBAL"))

    def is_shipped(workflow_id: str = INSPECT.id) -> bool:
        workflow = workflows(definitions.product.context).find_workflow("GLOBAL", workflow_id)
        assert workflow is not None
        return workflow.is_shipped

    assert is_shipped()
    definitions.done(routes.PUT_WORKFLOW, workflow_body("other", "GLOBAL", IN_GLOBAL))
    assert not is_shipped("other")
    more = [*IN_GLOBAL, ("GLOBAL", "render")]
    definitions.done(routes.PUT_WORKFLOW, workflow_body(INSPECT.id, "GLOBAL", more))
    assert not is_shipped()
    definitions.done(routes.PUT_WORKFLOW, workflow_body(INSPECT.id, "GLOBAL", IN_GLOBAL))
    assert is_shipped()
    changed = pipeline_body(INSPECT.id, "GLOBAL", updateAssociatedWorkflows=True)
    definitions.done(routes.PUT_PIPELINE, changed)
    assert not is_shipped()
