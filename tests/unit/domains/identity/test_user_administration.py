"""A help desk changes users with roles that it may give, and no others, by any route."""

from dataclasses import replace
from typing import Any

import pytest

from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.access import stored_user_role
from tests.factories.administration import Parts, stored_role
from tests.factories.http import Client, Response
from tests.factories.policies import everything, put_policy, stored
from tests.fakes.user_pool import MemoryUserPool

ANN = "ann@example.org"
BODIES: dict[Route, Any] = {
    routes.ADD_USER_ROLES: {"userId": ANN, "roleName": ["guest"]},
    routes.SET_USER_ROLES: {"userId": ANN, "roleName": ["guest"]},
    routes.DELETE_USER_ROLES: {"userId": ANN},
    routes.CREATE_COGNITO_USER: {"userId": ANN, "email": "eve@example.org"},
    routes.UPDATE_COGNITO_USER: {"email": "eve@example.org"},
    routes.DELETE_COGNITO_USER: None,
    routes.RESET_COGNITO_PASSWORD: {"confirmReset": True},
}
ADMINISTRATION = [
    route for route in routes.ROUTES if route.object_type == "userRole" and route.method != "GET"
]
HELP_DESK = (
    everything("api"),
    stored("userRole", ("roleName", "is_not_one_of", ["admin"])),
)
every_route = pytest.mark.parametrize("route", ADMINISTRATION, ids=lambda route: route.key)


class Office:
    """Users with roles, a help desk and an administrator, over the stored rules."""

    def __init__(self, parts: Parts) -> None:
        rules = PolicyAuthorization(PolicyRepository(parts.tables), parts.clock)
        self.tables, self.rules = parts.tables, rules
        self.parts = replace(parts, authorization=rules)
        for name in ("admin", "desk", "guest", "viewer"):
            stored_role(self.tables, name)
        self.give("desk", "desk")
        self.give("boss", "admin")
        put_policy(self.tables, "role#desk", *HELP_DESK)
        put_policy(self.tables, "role#admin", everything("api"), everything("userRole"))

    def give(self, user_id: str, *roles: str) -> None:
        for role in roles:
            stored_user_role(self.tables, user_id=user_id, role_name=role)

    def send(self, user_id: str, route: Route) -> Response:
        pool = MemoryUserPool()
        if route is not routes.CREATE_COGNITO_USER:
            pool.create_user(ANN, email=ANN, phone=None)
        client = self.client(user_id, pool)
        named = {"userId": ANN} if "{userId}" in route.path else {}
        path = route.path.replace("{userId}", ANN)
        return client.send(route.method, path, parameters=named, body=BODIES[route])

    def client(self, user_id: str, pool: MemoryUserPool) -> Client:
        router = replace(self.parts, pool=pool).services().router()
        return Client(router, authorization=self.rules, user_id=user_id)


@pytest.fixture
def office(parts: Parts) -> Office:
    return Office(parts)


@every_route
@pytest.mark.parametrize("had_rules", [False, True])
def test_a_help_desk_administers_a_user_whose_every_role_it_may_give(
    office: Office, route: Route, had_rules: bool
) -> None:
    office.give(ANN, "viewer")
    if had_rules:  # rules that were taken from a user protect it no longer
        put_policy(office.tables, f"user#{ANN}", epoch=2)
    assert office.send("desk", route).status == 200


@every_route
def test_one_role_that_the_caller_may_not_give_protects_its_holder(
    office: Office, route: Route
) -> None:
    office.give(ANN, "viewer", "admin")
    assert office.send("desk", route).status == 403
    assert office.send("boss", route).status == 200


@every_route
@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_a_user_with_rules_of_its_own_is_for_administrators(
    office: Office, route: Route, effect: str
) -> None:
    office.give(ANN, "viewer")
    put_policy(office.tables, f"user#{ANN}", everything("asset", effect=effect), epoch=2)
    refused = office.send("desk", route)
    assert (refused.status, refused.body["code"]) == (403, "PermissionDenied")
    assert "only administrators" in refused.body["message"]
    assert office.send("boss", route).status == 200


@every_route
def test_a_user_without_a_role_is_not_reached_by_a_negation(office: Office, route: Route) -> None:
    """A role that the same request gives counts; a user whom the caller may not see is absent."""
    wanted = {
        routes.ADD_USER_ROLES: 200,
        routes.SET_USER_ROLES: 200,
        routes.CREATE_COGNITO_USER: 403,
    }
    assert office.send("desk", route).status == wanted.get(route, 404)


def test_a_list_of_sign_ins_shows_the_users_whose_roles_are_seen(office: Office) -> None:
    pool = MemoryUserPool()
    for user, *roles in ((ANN, "viewer", "admin"), ("bob", "admin"), ("eve",)):
        pool.create_user(user, email=f"{user}@example.org", phone=None)
        office.give(user, *roles)
    for caller, seen in (("desk", [ANN]), ("boss", [ANN, "bob", "eve"])):
        users = office.client(caller, pool).send("GET", "/user/cognito").body["users"]
        assert [user["userId"] for user in users] == seen
    assert set(ADMINISTRATION) == set(BODIES)
