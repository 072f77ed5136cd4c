"""A deleted role leaves its constraints and has no rules any more; administrators keep theirs."""

from datetime import datetime

import pytest

from backend.core.identity import SYSTEM
from backend.core.ids import new_uuid
from backend.domains.access.policy.model import OBJECT_TYPES
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.service.administrator_rules import AdministratorRules
from backend.domains.access.service.roles import CONSTRAINTS_AT_ONCE
from backend.spec.tables.access import POLICIES, ROLES
from tests.factories.administration import JOB, stored_role, withdrawal_of
from tests.factories.audit import audit_service, entries
from tests.factories.constraints import (
    constraint,
    epoch,
    groups,
    policies,
    policies_by_rows,
    policy,
    rows,
    users,
)
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.access.constraints.conftest import Constraints


@pytest.fixture
def rules(memory: MemoryTables, now: datetime) -> AdministratorRules:
    return AdministratorRules(ConstraintRepository(memory), lambda: now, new_uuid)


def test_a_deleted_role_leaves_its_constraints_at_once(
    api: Constraints, memory: MemoryTables
) -> None:
    api.put("alone", constraint())
    api.put("both", constraint(groupPermissions=groups("viewer", "editor")))
    api.put("other", constraint(groupPermissions=groups("editor")))
    assert "jobId" not in api.delete_role("viewer").body
    assert sorted(rows(memory)) == ["both#group#editor", "other#group#editor"]
    assert policies(memory) == policies_by_rows(memory)
    assert api.get("alone").status == 404
    assert api.get("both").body["groupPermissions"] == groups("editor")
    found = {(e["entity"], e["operation"]) for e in entries(memory)}
    assert {("constraint:alone", "delete_role"), ("constraint:both", "delete_role")} <= found


def test_a_role_that_is_made_again_has_none_of_the_old_rules(
    api: Constraints, memory: MemoryTables
) -> None:
    api.put("see", constraint())
    api.delete_role("viewer")
    stored_role(memory, "viewer")
    assert policy(memory, "role#viewer") == []
    assert api.put("see", constraint()).status == 200


@pytest.mark.parametrize("count", [CONSTRAINTS_AT_ONCE + 3, 3])
def test_a_role_in_many_constraints_has_no_rules_at_once_and_leaves_them_by_a_job(
    api: Constraints, memory: MemoryTables, count: int
) -> None:
    """A constraint with many rows counts as many, too."""
    others = users(*(f"user-{number:02}" for number in range(39 if count == 3 else 1)))
    for number in range(count):
        api.put(f"see-{number:02}", constraint(userPermissions=others))
    assert api.delete_role("viewer").body["jobId"] == JOB
    assert policy(memory, "role#viewer") == []
    assert api.put("late", constraint()).status == 400
    api.delete("see-00")
    job = withdrawal_of(memory, audit_service(MemoryObjects()))
    ends = [
        job.step("viewer", job_id=JOB, created_by="admin", cursor={}).finished for _ in range(3)
    ]
    assert ends[-1]
    assert memory.get(ROLES, {"roleName": "viewer"}) is None
    assert not [name for name in rows(memory) if name.endswith("#viewer")]
    assert policies(memory) == policies_by_rows(memory)
    assert api.get("see-01").body["groupPermissions"] == []


def test_every_change_of_roles_and_of_who_has_them_counts_in_the_epoch(
    api: Constraints, memory: MemoryTables
) -> None:
    role = {"roleName": "new", "description": "New"}
    given = {"userId": "ann", "roleName": ["new"]}
    steps = [
        lambda: api.send("POST", "/roles", body=role),
        lambda: api.send("PUT", "/roles", body={**role, "mfaRequired": True}),
        lambda: api.send("POST", "/user-roles", body=given),
        lambda: api.send("PUT", "/user-roles", body={**given, "roleName": ["viewer"]}),
        lambda: api.send("DELETE", "/user-roles", body={"userId": "ann"}),
        lambda: api.delete_role("new"),
    ]
    for number, step in enumerate(steps):
        assert (step().status, epoch(memory)) == (200, number + 1)


def test_administrators_have_ordinary_constraints_for_each_type(
    api: Constraints, memory: MemoryTables, rules: AdministratorRules
) -> None:
    rules.create_missing()
    found = {rule["objectType"]: rule for rule in policy(memory, "role#admin")}
    assert found["asset"]["criteriaOr"] == [
        {"field": "databaseId", "operator": "contains", "value": ".*"}
    ]
    assert set(found["api"]["permissions"].values()) == {"allow"}
    assert set(found) == set(OBJECT_TYPES)
    assert policies(memory) == policies_by_rows(memory)
    assert api.get("vitrine-admin-web").body["createdBy"] == SYSTEM.user_id


def test_keeping_them_again_changes_nothing(
    memory: MemoryTables, rules: AdministratorRules
) -> None:
    rules.create_missing()
    before = (rows(memory), policies(memory), epoch(memory))
    rules.create_missing()
    assert (rows(memory), policies(memory), epoch(memory)) == before


def test_a_missing_one_is_created_again_and_a_changed_one_is_kept(
    api: Constraints, memory: MemoryTables, rules: AdministratorRules
) -> None:
    rules.create_missing()
    api.delete("vitrine-admin-tag")
    changed = constraint(objectType="web", groupPermissions=groups("admin"))
    api.put("vitrine-admin-web", {**changed, "criteriaAnd": [_path("/")]})
    rules.create_missing()
    assert api.get("vitrine-admin-tag").status == 200
    assert api.get("vitrine-admin-web").body["criteriaAnd"] == [_path("/")]
    assert policies(memory) == policies_by_rows(memory)


def test_rules_that_were_lost_are_made_again(
    memory: MemoryTables, rules: AdministratorRules
) -> None:
    rules.create_missing()
    wanted = policies(memory)
    memory.delete_many(POLICIES, [{"policyKey": "role#admin"}])
    rules.create_missing()
    assert policies(memory) == wanted


def _path(value: str) -> dict[str, str]:
    return {"field": "route__path", "operator": "starts_with", "value": value}
