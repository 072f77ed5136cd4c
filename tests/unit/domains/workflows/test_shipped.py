"""Shipped workflows, the rights of triggers, and requests that change a definition at once."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.clock import iso
from backend.core.identity import Identity
from backend.core.transactions import Update
from backend.domains.pipelines.repository import PipelineRepository
from backend.domains.pipelines.service.commands import ShippedPipelines
from backend.domains.pipelines.service.queries import PipelineQueries
from backend.domains.workflows.repository import WorkflowRepository
from backend.domains.workflows.service.commands import ShippedWorkflows
from backend.domains.workflows.service.queries import WorkflowQueries
from backend.entrypoints.wiring.workflows import workflows
from backend.spec import routes
from backend.spec.routes import Action
from backend.spec.shipped import INSPECT, INSPECT_CAD, SHIPPED
from backend.spec.tables.access import USERS
from backend.spec.tables.assets import DATABASES
from backend.spec.tables.workflows import PIPELINES, WORKFLOWS
from tests.factories.access import OnlyUser
from tests.factories.tables import before_next_write
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.audit.product import Product
from tests.unit.domains.definitions import Definitions

IN_GLOBAL = [("GLOBAL", INSPECT.id)]


def ensure(definitions: Definitions, *shipped: str) -> None:
    """Run this part of the bootstrap; `shipped` are further extensions of a later release."""
    tables, clock = definitions.product.tables, definitions.product.clock
    later = (replace(INSPECT, extensions=(*INSPECT.extensions, *shipped)), *SHIPPED[1:])
    pipelines = PipelineRepository(tables)
    ShippedPipelines(pipelines, clock).ensure(later)
    queries = PipelineQueries(pipelines, definitions.product.authorization)
    ShippedWorkflows(WorkflowRepository(tables), queries, clock).ensure(later)


def test_they_are_created_once_and_follow_the_declaration(definitions: Definitions) -> None:
    ensure(definitions)
    for shipped in SHIPPED:
        workflow = definitions.workflow(shipped.id, "GLOBAL")
        (function,) = workflow["specifiedPipelines"]["functions"]
        assert function["name"] == shipped.id
        assert f'"resourceId":"{shipped.function}"' in function["userProvidedResource"]
        assert workflow["autoTriggerOnFileExtensionsUpload"] == ",".join(shipped.extensions)
    rows = dict(definitions.product.tables.items)
    ensure(definitions)
    assert definitions.product.tables.items == rows
    ensure(definitions, ".usd")
    triggers = definitions.workflow(INSPECT.id, "GLOBAL")["autoTriggerOnFileExtensionsUpload"]
    assert triggers.endswith(",.usd")
    old = Update(table=DATABASES, key={"databaseId": "museum"}, remove=("processing",))
    definitions.product.tables.write(old)
    workflow = workflows(definitions.product.context).triggered_by("museum", ["/a.glb"])["/a.glb"]
    assert [item.workflow_id for item in workflow] == [INSPECT.id]


def test_what_an_administrator_changed_is_not_changed_back(definitions: Definitions) -> None:
    ensure(definitions)
    body = workflow_body(INSPECT.id, "GLOBAL", IN_GLOBAL, autoTriggerOnFileExtensionsUpload=".stl")
    definitions.done(routes.PUT_WORKFLOW, body)
    path = {"databaseId": "GLOBAL", "workflowId": INSPECT_CAD.id}
    definitions.done(routes.DELETE_WORKFLOW, **path)
    ensure(definitions, ".usd")
    workflow = definitions.workflow(INSPECT.id, "GLOBAL")
    assert workflow["autoTriggerOnFileExtensionsUpload"] == ".stl"
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
    assert [item.workflow_id for item in before] == ["other", INSPECT.id]
    queries = workflows(context)
    if switch == "deployment":
        queries = WorkflowQueries(queries.workflows, queries.authorization, lambda _: False)
    else:
        definitions.done(routes.UPDATE_DATABASE, {"processing": False}, databaseId="museum")
        assert definitions.done(routes.GET_DATABASE, databaseId="museum")["processing"] is False
    assert [item.workflow_id for item in queries.triggered_by("museum", ["/a.glb"])["/a.glb"]] == [
        "other"
    ]


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


TRIGGER: dict[str, Any] = {"autoTriggerOnFileExtensionsUpload": ".glb"}
BOTH = [("museum", "convert"), ("museum", "render")]


@dataclass(frozen=True)
class MayRun(OnlyUser):
    """May do everything, but run only some pipelines and workflows."""

    runs: set[str] = field(default_factory=set[str])

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        name = target.fields.get("pipelineId", target.fields.get("workflowId"))
        is_run = action == "POST" and name is not None
        return OnlyUser.may(self, caller, action, target) and (not is_run or name in self.runs)


@pytest.fixture
def rights() -> MayRun:
    return MayRun(runs={"convert", "render", "publish", "by-hand"})


@pytest.fixture
def ruled(rights: MayRun) -> Definitions:
    definitions = Definitions(Product(rights))
    for name in ("convert", "render"):
        definitions.done(routes.PUT_PIPELINE, pipeline_body(name))
    return definitions


def test_a_trigger_is_stored_only_by_who_may_run_it(ruled: Definitions, rights: MayRun) -> None:
    rights.runs.discard("render")
    status, _, message = ruled.refused(
        routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER)
    )
    assert status == 403
    assert "autoTriggerOnFileExtensionsUpload" in message
    assert "you may not run the pipeline render" in message
    assert not ruled.product.tables.rows(WORKFLOWS)
    ruled.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH))  # without a trigger
    assert ruled.send(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER)
    ).status == 403  # fmt: skip
    rights.runs.add("render")
    ruled.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER))
    assert ruled.workflow()["storedBy"] == "admin"
    rights.runs.discard("publish")
    status, _, message = ruled.refused(routes.PUT_WORKFLOW, workflow_body(**TRIGGER))
    assert status == 403
    assert "you may not run the workflow publish" in message
    ruled.done(routes.PUT_WORKFLOW, workflow_body())


def test_a_trigger_changes_only_for_who_may_run_it(ruled: Definitions, rights: MayRun) -> None:
    ruled.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER))
    ruled.done(routes.PUT_WORKFLOW, workflow_body("by-hand"))
    changed = pipeline_body(inputParameters='{"to": "elsewhere"}', updateAssociatedWorkflows=True)
    rights.runs.discard("render")
    answer = ruled.done(routes.PUT_PIPELINE, changed)
    assert answer["message"].endswith(
        "workflows updated: 1; workflows that you have no permission to change: 1"
    )
    ruled.done(routes.PUT_WORKFLOW, workflow_body(**TRIGGER))
    row = {"databaseId": "museum", "workflowId": "publish"}
    of_another = {"storedBy": "curator", "storedAt": "2026-01-01T00:00:00.000000Z"}
    ruled.product.tables.write(Update(table=WORKFLOWS, key=row, set=of_another))
    changed = pipeline_body(inputParameters='{"to": "elsewhere"}', updateAssociatedWorkflows=True)
    ruled.done(routes.PUT_PIPELINE, changed)
    assert ruled.workflow()["storedBy"] == "admin"


def test_a_trigger_that_starts_nothing_has_a_reason_until_it_is_stored_again(
    ruled: Definitions,
) -> None:
    body = workflow_body(**TRIGGER)
    ruled.done(routes.PUT_WORKFLOW, body)
    ruled.done(routes.PUT_WORKFLOW, workflow_body("by-hand"))
    assert shown(ruled) == {"publish": None, "by-hand": None}
    tables = ruled.product.tables
    older = {"databaseId": "museum", "workflowId": "publish"}
    tables.write(Update(table=WORKFLOWS, key=older, remove=("storedBy", "storedAt")))
    by_hand = {**older, "workflowId": "by-hand"}
    tables.write(Update(table=WORKFLOWS, key=by_hand, remove=("storedBy", "storedAt")))
    result = shown(ruled)
    assert result["by-hand"] is None
    assert "without its user; store it again" in str(result["publish"])
    ruled.product.now += timedelta(seconds=1)
    ruled.done(routes.PUT_WORKFLOW, body)
    assert shown(ruled)["publish"] is None
    deleted = {"deletedAt": iso(ruled.product.now)}
    tables.write(Update(table=USERS, key={"userId": "admin"}, set=deleted))
    assert "user admin was deleted; store it again" in str(shown(ruled)["publish"])
    ruled.product.now += timedelta(seconds=1)
    ruled.done(routes.PUT_WORKFLOW, body)
    assert shown(ruled)["publish"] is None


def shown(ruled: Definitions) -> dict[str, str | None]:
    """Why triggers are stopped, which all reads say alike."""
    result = {name: ruled.workflow(name).get("triggerStopped") for name in ("publish", "by-hand")}
    for route, path in (
        (routes.LIST_ALL_WORKFLOWS, {}),
        (routes.LIST_WORKFLOWS, {"databaseId": "museum"}),
    ):
        items = ruled.done(route, **path)["message"]["Items"]
        assert {item["workflowId"]: item.get("triggerStopped") for item in items} == result
    return result


CONVERT = {"databaseId": "museum", "pipelineId": "convert"}
PUBLISH = {"databaseId": "museum", "workflowId": "publish"}


def test_a_pipeline_that_changes_meanwhile_is_checked_again(definitions: Definitions) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    before_next_write(
        definitions.product.tables, lambda: definitions.done(routes.DELETE_PIPELINE, **CONVERT)
    )
    status, fields, _ = definitions.refused(routes.PUT_WORKFLOW, workflow_body())
    assert (status, fields) == (400, ["specifiedPipelines.functions.0.name"])
    assert not definitions.product.tables.rows(WORKFLOWS)
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    before_next_write(
        definitions.product.tables, lambda: definitions.done(routes.PUT_WORKFLOW, workflow_body())
    )
    assert definitions.refused(routes.DELETE_PIPELINE, **CONVERT)[0] == 400
    assert definitions.pipeline()["pipelineId"] == "convert"
    definitions.done(routes.PUT_PIPELINE, pipeline_body(inputParameters="1"))
    changed = pipeline_body(inputParameters="2")
    before_next_write(
        definitions.product.tables, lambda: definitions.done(routes.PUT_PIPELINE, changed)
    )
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    (function,) = definitions.workflow()["specifiedPipelines"]["functions"]
    assert function["inputParameters"] == "2"


def test_what_is_deleted_meanwhile_is_not_restored(definitions: Definitions) -> None:
    before_next_write(
        definitions.product.tables, lambda: definitions.done(routes.PUT_PIPELINE, pipeline_body())
    )
    assert definitions.refused(routes.DELETE_DATABASE, databaseId="museum")[0] == 409
    assert definitions.pipeline()["pipelineId"] == "convert"
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    before_next_write(
        definitions.product.tables, lambda: definitions.done(routes.DELETE_WORKFLOW, **PUBLISH)
    )
    changed = pipeline_body(description="Converts more", updateAssociatedWorkflows=True)
    definitions.done(routes.PUT_PIPELINE, changed)
    assert definitions.send(routes.GET_WORKFLOW, **PUBLISH).status == 404
    definitions.done(routes.DELETE_PIPELINE, **CONVERT)
    before_next_write(
        definitions.product.tables,
        lambda: definitions.done(routes.DELETE_DATABASE, databaseId="museum"),
    )
    status, fields, _ = definitions.refused(routes.PUT_PIPELINE, pipeline_body())
    assert (status, fields) == (400, ["databaseId"])
    stored = definitions.product.tables.rows(PIPELINES)
    assert not [row for row in stored if row["databaseId"] == "museum"]
