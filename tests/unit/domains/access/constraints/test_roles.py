"""Deleted roles leave their constraints, administrators keep theirs, revoked rights end."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from backend.core.authorization import Secured
from backend.core.identity import SYSTEM, Identity
from backend.core.ids import new_uuid
from backend.domains.access.policy.model import OBJECT_TYPES
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.administrator_rules import AdministratorRules
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.access.service.roles import CONSTRAINTS_AT_ONCE
from backend.spec import routes
from backend.spec.tables.access import POLICIES, ROLES
from tests.factories.access import stored_user_role
from tests.factories.administration import JOB, stored_role, withdrawal_of
from tests.factories.audit import audit_service, entries
from tests.factories.constraints import (
    constraint,
    criterion,
    epoch,
    groups,
    policies,
    policies_by_rows,
    policy,
    rows,
    users,
)
from tests.factories.http import Response
from tests.fakes.objects import MemoryObjects
from tests.unit.domains.access.constraints.conftest import Constraints


@pytest.fixture
def rules(api: Constraints, now: datetime) -> AdministratorRules:
    return AdministratorRules(ConstraintRepository(api.memory), lambda: now, new_uuid)


def test_a_deleted_role_leaves_its_constraints_and_rules(api: Constraints) -> None:
    api.put("alone", constraint())
    api.put("both", constraint(groupPermissions=groups("viewer", "editor")))
    api.put("other", constraint(groupPermissions=groups("editor")))
    assert "jobId" not in api.delete_role("viewer").body
    assert sorted(rows(api.memory)) == ["both#group#editor", "other#group#editor"]
    assert policies(api.memory) == policies_by_rows(api.memory)
    assert api.get("alone").status == 404
    assert api.get("both").body["groupPermissions"] == groups("editor")
    result = {(e["entity"], e["operation"]) for e in entries(api.memory)}
    assert {("constraint:alone", "delete_role"), ("constraint:both", "delete_role")} <= result
    stored_role(api.memory, "viewer")
    assert policy(api.memory, "role#viewer") == []
    assert api.put("see", constraint()).status == 200


@pytest.mark.parametrize("count", [CONSTRAINTS_AT_ONCE + 3, 3])
def test_a_role_in_many_constraints_has_no_rules_at_once_and_leaves_them_by_a_job(
    api: Constraints, count: int
) -> None:
    """A constraint with many rows counts as many, too."""
    others = users(*(f"user-{number:02}" for number in range(39 if count == 3 else 1)))
    for number in range(count):
        api.put(f"see-{number:02}", constraint(userPermissions=others))
    assert api.delete_role("viewer").body["jobId"] == JOB
    assert policy(api.memory, "role#viewer") == []
    assert api.put("late", constraint()).status == 400
    api.delete("see-00")
    job = withdrawal_of(api.memory, audit_service(MemoryObjects()))
    ends = [
        job.step("viewer", job_id=JOB, created_by="admin", cursor={}).finished for _ in range(3)
    ]
    assert ends[-1]
    assert api.memory.get(ROLES, {"roleName": "viewer"}) is None
    assert not [name for name in rows(api.memory) if name.endswith("#viewer")]
    assert policies(api.memory) == policies_by_rows(api.memory)
    assert api.get("see-01").body["groupPermissions"] == []


def test_every_change_of_roles_and_of_who_has_them_counts_in_the_epoch(api: Constraints) -> None:
    role = {"roleName": "new", "description": "New"}
    value = {"userId": "ann", "roleName": ["new"]}
    steps = [
        lambda: api.send("POST", "/roles", body=role),
        lambda: api.send("PUT", "/roles", body={**role, "mfaRequired": True}),
        lambda: api.send("POST", "/user-roles", body=value),
        lambda: api.send("PUT", "/user-roles", body={**value, "roleName": ["viewer"]}),
        lambda: api.send("DELETE", "/user-roles", body={"userId": "ann"}),
        lambda: api.delete_role("new"),
    ]
    for number, step in enumerate(steps):
        assert (step().status, epoch(api.memory)) == (200, number + 1)


def test_administrators_have_constraints_and_missing_rules(
    api: Constraints, rules: AdministratorRules
) -> None:
    rules.create_missing()
    result = {rule["objectType"]: rule for rule in policy(api.memory, "role#admin")}
    assert result["asset"]["criteriaOr"] == [
        {"field": "databaseId", "operator": "contains", "value": ".*"}
    ]
    assert set(result["api"]["permissions"].values()) == {"allow"}
    assert set(result) == set(OBJECT_TYPES)
    assert policies(api.memory) == policies_by_rows(api.memory)
    assert api.get("vitrine-admin-web").body["createdBy"] == SYSTEM.user_id
    before = (rows(api.memory), policies(api.memory), epoch(api.memory))
    rules.create_missing()
    assert (rows(api.memory), policies(api.memory), epoch(api.memory)) == before
    api.delete("vitrine-admin-tag")
    changed = constraint(objectType="web", groupPermissions=groups("admin"))
    api.put("vitrine-admin-web", {**changed, "criteriaAnd": [_path("/")]})
    rules.create_missing()
    assert api.get("vitrine-admin-tag").status == 200
    assert api.get("vitrine-admin-web").body["criteriaAnd"] == [_path("/")]
    assert policies(api.memory) == policies_by_rows(api.memory)
    wanted = policies(api.memory)
    api.memory.delete_many(POLICIES, [{"policyKey": "role#admin"}])
    rules.create_missing()
    assert policies(api.memory) == wanted


def _path(value: str) -> dict[str, str]:
    return {"field": "route__path", "operator": "starts_with", "value": value}


ANN = Identity("ann")
SHIP = Secured("asset", {"databaseId": "museum", "assetName": "Ship", "assetType": "", "tags": ()})
LIST = routes.LIST_ALL_ASSETS
CONTRACT = timedelta(seconds=5)

Revoking = Callable[[Constraints], Response]


def _of_roles(method: str, body: object) -> Revoking:
    return lambda api: api.send(method, "/roles", body=body)


def _of_users(method: str, body: object) -> Revoking:
    return lambda api: api.send(method, "/user-roles", body=body)


def _denied(api: Constraints) -> Response:
    denial = constraint(
        criteriaAnd=[criterion("assetName", "starts_with", "Sh")],
        groupPermissions=groups("viewer", type_="deny"),
    )
    return api.put("denial", denial)


@pytest.fixture
def elsewhere(api: Constraints) -> Callable[[datetime], tuple[bool, bool]]:
    """Whether another process, which lives on, lets Ann see the ship, alone and in searches."""
    at: list[datetime] = []
    process = PolicyAuthorization(PolicyRepository(api.memory), lambda: at[-1])

    def sees(now: datetime) -> tuple[bool, bool]:
        at.append(now)
        return process.may(ANN, "GET", SHIP), process.search_filter(ANN) is not None

    return sees


_MFA = {"roleName": "viewer", "description": "Looks around", "mfaRequired": True}
REVOKING: dict[str, Revoking] = {
    "a constraint deleted": lambda api: api.delete("see"),
    "a constraint changed": lambda api: api.put(
        "see", constraint(criteriaAnd=[criterion(value="zoo")])
    ),
    "a constraint given to others": lambda api: api.put(
        "see", constraint(groupPermissions=groups("editor"))
    ),
    "a denial put": _denied,
    "the role taken away": _of_users("DELETE", {"userId": "ann"}),
    "the role changed for another": _of_users("PUT", {"userId": "ann", "roleName": ["editor"]}),
    "the role deleted": lambda api: api.delete_role("viewer"),
    "a second factor demanded": _of_roles("PUT", _MFA),
}


@pytest.mark.parametrize("name", REVOKING)
def test_a_right_ends_elsewhere_within_five_seconds_while_indexes_lag(
    api: Constraints, now: datetime, elsewhere: Callable[[datetime], tuple[bool, bool]], name: str
) -> None:
    api.memory.lagging = True
    stored_user_role(api.memory, user_id="ann", role_name="viewer")
    assert api.put("see", constraint()).status == 200
    api.memory.catch_up(until=0)
    assert elsewhere(now) == (True, True)
    assert REVOKING[name](api).status == 200
    assert elsewhere(now + CONTRACT)[0] is False
