"""An upload starts a workflow with the current rights of the user who stored its trigger."""

from typing import Any

import pytest

from backend.domains.access.policy.model import ACTIONS
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.workflows.models import own_function
from backend.spec.shipped import INSPECT
from backend.spec.tables.access import USERS
from backend.spec.tables.workflows import WORKFLOW_EXECUTIONS
from tests.factories.executions import Runner
from tests.factories.policies import everything, put_policy, stored

KEY = "statue/a.glb"
AUTHOR = "user#curator"
TYPES = ("pipeline", "asset", "workflow")
ALL = [everything(name) for name in TYPES]


@pytest.fixture
def runner() -> Runner:
    """Uploads with the stored rules instead of the fake ones; the author may do everything."""
    runner = Runner()
    vars(runner.context)["rules"] = PolicyAuthorization(
        PolicyRepository(runner.tables), runner.clock
    )
    put_policy(runner.tables, AUTHOR, *ALL)
    runner.define("publish", triggers=".glb")
    return runner


def started(runner: Runner) -> list[str]:
    """The workflows that a new version starts."""
    before = len(runner.tables.rows(WORKFLOW_EXECUTIONS))
    runner.wait(seconds=3)  # the rights are read again
    key = f"statue/{before}-{runner.now:%H%M%S}.glb"
    runner.upload(key)
    runner.trigger(key)
    rows = runner.tables.rows(WORKFLOW_EXECUTIONS)
    return sorted(row["workflowId"] for row in rows if row["inputAssetFileKey"] == key)


def without(object_type: str, *actions: str) -> list[dict[str, Any]]:
    kept = [each for each in ACTIONS if each not in actions]
    return [everything(name, actions=kept if name == object_type else ACTIONS)
            for name in TYPES]  # fmt: skip


NO_RIGHTS: dict[str, list[dict[str, Any]]] = {
    "no rules": [],
    "may not run the pipeline": without("pipeline", "POST"),
    "may not see the pipeline": without("pipeline", "GET"),
    "may not run anything on the asset": without("asset", "POST"),
    "may not see the asset": without("asset", "GET"),
    "may not run the workflow": without("workflow", "POST"),
    "may not see the workflow": without("workflow", "GET"),
    "is denied the asset": [*ALL, stored("asset", ("databaseId", "equals", "museum"),
                                         effect="deny")],
    "is denied the pipeline": [*ALL, stored("pipeline", ("pipelineId", "equals", "convert"),
                                            effect="deny", actions=["POST"])],
}  # fmt: skip


def test_each_start_needs_the_rights_that_the_author_has_then(runner: Runner) -> None:
    assert started(runner) == ["publish"]
    for epoch, (name, rules) in enumerate(NO_RIGHTS.items(), start=2):
        put_policy(runner.tables, AUTHOR, *rules, epoch=epoch)
        assert started(runner) == [], name
    put_policy(runner.tables, AUTHOR, *ALL, epoch=99)
    assert started(runner) == ["publish"]


def test_every_pipeline_of_the_workflow_is_checked(runner: Runner) -> None:
    runner.define(
        "publish", triggers=".glb", pipelines=[("museum", "convert"), ("museum", "render")]
    )
    assert started(runner) == ["publish"]
    denial = stored("pipeline", ("pipelineId", "equals", "render"), effect="deny")
    put_policy(runner.tables, AUTHOR, *ALL, denial, epoch=2)
    assert started(runner) == []


def test_a_trigger_without_a_known_author_starts_nothing(runner: Runner) -> None:
    runner.define("old", triggers=".glb", stored_by=None)
    runner.define("of-nobody", triggers=".glb", stored_by="")
    assert started(runner) == ["publish"]


def test_a_trigger_of_a_deleted_user_starts_nothing_even_if_the_name_is_used_again(
    runner: Runner,
) -> None:
    profile = {"userId": "curator", "deletedAt": "2026-02-01T12:00:00.000000Z"}
    runner.tables.put_many(USERS, [profile])
    assert started(runner) == ["publish"]  # it was stored after that
    runner.tables.put_many(USERS, [{**profile, "deletedAt": "2026-03-01T12:00:00.000000Z"}])
    assert started(runner) == []


def test_the_products_own_workflow_runs_without_an_author(runner: Runner) -> None:
    runner.define(
        INSPECT.id,
        database_id="GLOBAL",
        pipelines=[("GLOBAL", INSPECT.id)],
        triggers=".glb",
        stored_by=None,
        user_provided_resource=own_function(INSPECT.function).text,
    )
    assert started(runner) == ["publish", INSPECT.id]


def test_a_workflow_with_the_id_of_a_shipped_one_has_no_exemption(runner: Runner) -> None:
    runner.define(
        INSPECT.id,
        database_id="GLOBAL",
        pipelines=[("GLOBAL", "own")],
        triggers=".glb",
        stored_by=None,
    )
    assert started(runner) == ["publish"]
