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
    """May do everything, but run only some pipelines."""

    runs: set[str] = field(default_factory=set[str])

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        pipeline_id = target.fields.get("pipelineId")
        is_run = action == "POST" and pipeline_id is not None
        return OnlyUser.may(self, caller, action, target) and (
            not is_run or pipeline_id in self.runs
        )


@pytest.fixture
def rights() -> MayRun:
    return MayRun(runs={"convert", "render"})


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
    assert "you may not POST render" in message
    assert not definitions.product.tables.rows(WORKFLOWS)
    definitions.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH))  # without a trigger
    assert definitions.send(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER)
    ).status == 403  # fmt: skip
    rights.runs.add("render")
    definitions.done(routes.PUT_WORKFLOW, workflow_body(pipelines=BOTH, **TRIGGER))
    assert definitions.workflow()["storedBy"] == "admin"


def test_a_trigger_that_starts_nothing_says_why_until_it_is_stored_again(
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
        assert {one["workflowId"]: one.get("triggerStopped") for one in items} == found
    return found
