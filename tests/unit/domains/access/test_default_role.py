"""The role of users without one: whom it is for, and what it never allows."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.identity import ANONYMOUS, SYSTEM, Identity
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.spec.functions import FUNCTIONS
from backend.spec.routes import DELETE_ROLE, GET_ASSET
from backend.spec.settings import DEFAULT_USER_ROLE
from infra.settings import SettingsError, read_settings
from tests.factories.access import stored_user_role
from tests.factories.administration import JOB, Parts, stored_role, withdrawal_of
from tests.factories.assets import NOON
from tests.factories.audit import audit_service
from tests.factories.http import Client
from tests.factories.policies import everything, put_policy
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.fakes.user_pool import MemoryUserPool

ANN = Identity("ann@example.org")
ASSET = Secured("asset", {"databaseId": "museum", "assetName": "Pump", "assetType": "none"})
CHANGES = ("PUT", "POST", "DELETE")


class Deployment:
    """The roles guest and viewer, which may do everything that rules can allow."""

    def __init__(self, default_role: str = "guest") -> None:
        self.tables = MemoryTables()
        self.default_role = default_role
        kinds = ("api", "asset", "role", "userRole")
        for name in ("guest", "viewer", "admin"):
            stored_role(self.tables, name)
            put_policy(self.tables, f"role#{name}", *map(everything, kinds))
        stored_user_role(self.tables, user_id="admin")
        pool = MemoryUserPool()
        parts = Parts(self.tables, audit_service(MemoryObjects()), NOON, pool=pool)
        self.parts = parts
        self.admin = Client(parts.services().router())

    @property
    def rules(self) -> PolicyAuthorization:
        policies = PolicyRepository(self.tables, self.default_role)
        return PolicyAuthorization(policies, lambda: NOON)

    def sees(self, caller: Identity = ANN) -> bool:
        return self.rules.may(caller, "GET", ASSET)

    def done(self, method: str, path: str, body: Any = None, **parameters: str) -> Any:
        answer = self.admin.send(method, path, body=body, parameters=parameters)
        assert answer.status == 200, answer.body
        return answer.body


@pytest.fixture
def world() -> Deployment:
    return Deployment()


@pytest.mark.parametrize("user_id", ["ann@example.org", "corp.ann", "Okta_ann"])
def test_it_is_for_every_user_without_a_role(world: Deployment, user_id: str) -> None:
    user = Identity(user_id)
    assert world.sees(user)
    assert world.rules.may_use(user, GET_ASSET, {"databaseId": "museum", "assetId": "pump"})
    stored_role(world.tables, "other")
    body = {"userId": user_id, "roleName": ["other"]}
    world.done("POST", "/user-roles", body)
    assert not world.sees(user)


@pytest.mark.parametrize("role", ["", "absent", "admin"])
def test_no_role_an_absent_one_and_the_administrators_give_nothing(role: str) -> None:
    assert not Deployment(role).sees()
    assert not Deployment(role).rules.rights(ANN).is_administrator


@pytest.mark.parametrize("caller", [ANONYMOUS, SYSTEM])
def test_names_of_the_product_never_have_it(world: Deployment, caller: Identity) -> None:
    assert not world.sees(caller)


def test_one_that_requires_a_second_factor_counts_only_with_it(world: Deployment) -> None:
    stored_role(world.tables, "guest", mfaRequired=True)
    assert not world.sees()
    assert world.sees(ANN._replace(mfa=True))


def test_whose_roles_were_taken_away_never_has_it(world: Deployment) -> None:
    world.done("POST", "/user-roles", {"userId": ANN.user_id, "roleName": ["viewer"]})
    world.done("DELETE", "/user-roles", {"userId": ANN.user_id})
    assert not world.sees()
    # Given again and taken again, it stays so.
    world.done("POST", "/user-roles", {"userId": ANN.user_id, "roleName": ["viewer"]})
    assert world.sees()
    world.done("DELETE", "/user-roles", {"userId": ANN.user_id})
    assert not world.sees()


@pytest.mark.parametrize("others", [0, 31])
def test_who_had_a_deleted_role_does_not_fall_back_to_it(world: Deployment, others: int) -> None:
    """At once, or by a job if the users are many."""
    for user_id in (ANN.user_id, *(f"user-{number}" for number in range(others))):
        world.done("POST", "/user-roles", {"userId": user_id, "roleName": ["viewer"]})
    world.done("DELETE", "/roles/viewer", roleId="viewer")
    if others:
        assert not world.sees()
        job = withdrawal_of(world.tables, world.parts.audit)
        while not job.step("viewer", job_id=JOB, created_by="admin", cursor={}).finished:
            pass
    assert not world.sees()


def test_a_user_who_was_deleted_from_the_pool_never_has_it(world: Deployment) -> None:
    path = f"/user/cognito/{ANN.user_id}"
    body = {"userId": ANN.user_id, "email": ANN.user_id}
    world.done("POST", "/user/cognito", body)
    assert world.sees()
    world.done("DELETE", path, userId=ANN.user_id)
    world.done("POST", "/user/cognito", body)
    assert not world.sees()


def test_it_never_allows_to_change_who_may_what(world: Deployment) -> None:
    targets = (
        Secured("role", {"roleName": "guest"}),
        Secured("userRole", {"userId": "bob", "roleName": "guest"}),
        Secured("userRole", {"userId": ANN.user_id}),
        Secured("constraint"),
        Secured("apiKey", {"userId": "bob"}),
    )
    for target in targets:
        assert not any(world.rules.may(ANN, action, target) for action in CHANGES), target
    assert world.rules.may(ANN, "GET", targets[0])
    assert world.rules.may(ANN, "DELETE", ASSET)
    router = replace(world.parts, authorization=world.rules).services().router()
    guest = Client(router, user_id=ANN.user_id, authorization=world.rules)
    assert guest.send("DELETE", "/roles/viewer", parameters={"roleId": "viewer"}).status == 403
    body = {"userId": ANN.user_id, "roleName": ["viewer"]}
    assert guest.send("POST", "/user-roles", body=body).status == 403
    assert world.rules.may_use(ANN, DELETE_ROLE, {"roleId": "viewer"}), "tier 2 decides"


def test_it_counts_only_behind_the_authorizer_which_refuses_disabled_users() -> None:
    for function in FUNCTIONS:
        assert (DEFAULT_USER_ROLE in function.settings) == (function.kind == "api")


@pytest.mark.parametrize("name", ["admin", " Admin ", "a/b", "x" * 257])
def test_a_default_role_that_changes_permissions_is_refused_at_synthesis(name: str) -> None:
    stages = {"test": {"defaultUserRole": name}}
    with pytest.raises(SettingsError, match="defaultUserRole"):
        read_settings({"stage": "test", "stages": stages}.get)
