"""Storing a trigger needs the right to run its pipelines, and shows for whom it runs."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.clock import iso
from backend.core.identity import Identity
from backend.core.transactions import Update
from backend.spec import routes
from backend.spec.routes import Action
from backend.spec.tables.access import USERS
from backend.spec.tables.workflows import WORKFLOWS
from tests.factories.access import OnlyUser
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.audit.product import Product
from tests.unit.domains.definitions import Definitions

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
def definitions(rights: MayRun) -> Definitions:
    found = Definitions(Product(rights))
    for name in ("convert", "render"):
        found.done(routes.PUT_PIPELINE, pipeline_body(name))
    return found


def test_a_trigger_is_stored_only_by_who_may_run_each_pipeline(
    definitions: Definitions, rights: MayRun
) -> None:
    rights.runs.discard("render")
    status, _, message = definitions.refused(
        routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER)
    )
    assert status == 403
    assert "autoTriggerOnFileExtensionsUpload" in message
    assert "you may not run the pipeline render" in message
    assert not definitions.product.tables.rows(WORKFLOWS)
    definitions.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH))  # without a trigger
    assert definitions.send(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER)
    ).status == 403  # fmt: skip
    rights.runs.add("render")
    definitions.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER))
    assert definitions.workflow()["storedBy"] == "admin"


def test_a_trigger_is_stored_only_by_who_may_run_the_workflow(
    definitions: Definitions, rights: MayRun
) -> None:
    rights.runs.discard("publish")
    status, _, message = definitions.refused(routes.PUT_WORKFLOW, workflow_body(**TRIGGER))
    assert status == 403
    assert "you may not run the workflow publish" in message
    definitions.done(routes.PUT_WORKFLOW, workflow_body())


def test_a_pipeline_gets_into_a_trigger_only_by_who_may_run_it(
    definitions: Definitions, rights: MayRun
) -> None:
    definitions.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER))
    definitions.done(routes.PUT_WORKFLOW, workflow_body("by-hand"))
    changed = pipeline_body(inputParameters='{"to": "elsewhere"}', updateAssociatedWorkflows=True)
    rights.runs.discard("render")
    answer = definitions.done(routes.PUT_PIPELINE, changed)
    assert answer["message"].endswith(
        "workflows updated: 1; workflows that you have no permission to change: 1"
    )


def test_a_trigger_runs_for_who_put_another_pipeline_into_it(definitions: Definitions) -> None:
    definitions.done(routes.PUT_WORKFLOW, workflow_body(**TRIGGER))
    row = {"databaseId": "museum", "workflowId": "publish"}
    of_another = {"storedBy": "curator", "storedAt": "2026-01-01T00:00:00.000000Z"}
    definitions.product.tables.write(Update(table=WORKFLOWS, key=row, set=of_another))
    changed = pipeline_body(inputParameters='{"to": "elsewhere"}', updateAssociatedWorkflows=True)
    definitions.done(routes.PUT_PIPELINE, changed)
    assert definitions.workflow()["storedBy"] == "admin"


def test_a_trigger_that_starts_nothing_has_a_reason_until_it_is_stored_again(
    definitions: Definitions,
) -> None:
    body = workflow_body(**TRIGGER)
    definitions.done(routes.PUT_WORKFLOW, body)
    definitions.done(routes.PUT_WORKFLOW, workflow_body("by-hand"))
    assert shown(definitions) == {"publish": None, "by-hand": None}
    tables = definitions.product.tables
    older = {"databaseId": "museum", "workflowId": "publish"}
    tables.write(Update(table=WORKFLOWS, key=older, remove=("storedBy", "storedAt")))
    by_hand = {**older, "workflowId": "by-hand"}
    tables.write(Update(table=WORKFLOWS, key=by_hand, remove=("storedBy", "storedAt")))
    found = shown(definitions)
    assert found["by-hand"] is None
    assert "without its user; store it again" in str(found["publish"])
    definitions.product.now += timedelta(seconds=1)
    definitions.done(routes.PUT_WORKFLOW, body)
    assert shown(definitions)["publish"] is None
    deleted = {"deletedAt": iso(definitions.product.now)}
    tables.write(Update(table=USERS, key={"userId": "admin"}, set=deleted))
    assert "user admin was deleted; store it again" in str(shown(definitions)["publish"])
    definitions.product.now += timedelta(seconds=1)
    definitions.done(routes.PUT_WORKFLOW, body)
    assert shown(definitions)["publish"] is None


def shown(definitions: Definitions) -> dict[str, str | None]:
    """Why triggers are stopped, which all reads say alike."""
    found = {
        name: definitions.workflow(name).get("triggerStopped") for name in ("publish", "by-hand")
    }
    for route, path in (
        (routes.LIST_ALL_WORKFLOWS, {}),
        (routes.LIST_WORKFLOWS, {"databaseId": "museum"}),
    ):
        items = definitions.done(route, **path)["message"]["Items"]
        assert {item["workflowId"]: item.get("triggerStopped") for item in items} == found
    return found
