"""Profiles, the administration of users by a help desk, and requests of stock clients."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from backend.core.errors import PermissionDeniedError
from backend.core.identity import Identity
from backend.core.transactions import Put
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.configuration.models import Endpoints, SignInProvider
from backend.domains.configuration.repository import FeatureRepository
from backend.domains.configuration.routes import build_router as configuration_router
from backend.domains.configuration.service import ConfigurationService
from backend.domains.identity.models.profiles import MAX_BOOKMARKS, ProfileBody
from backend.domains.identity.models.sign_ins import CreateSignInBody, UpdateSignInBody
from backend.spec import routes
from backend.spec.routes import Route
from backend.spec.tables.access import USERS
from tests.factories.access import stored_user_role
from tests.factories.administration import AccessServices, Parts, email_addresses, stored_role
from tests.factories.audit import entries
from tests.factories.http import Client, Response
from tests.factories.policies import everything, put_policy, stored
from tests.fakes.user_pool import MemoryUserPool
from tests.journeys import stock


@pytest.fixture
def services(parts: Parts) -> AccessServices:
    return parts.services()


@pytest.fixture
def ann(services: AccessServices) -> Client:
    """A user without any role."""
    return Client(services.router(), user_id="ann")


def profile(
    client: Client, method: str = "GET", user: str = "ann", body: object = None
) -> Response:
    path = f"/auth/loginProfile/{user}"
    return client.send(method, path, parameters={"userId": user}, body=body)


def profile_reply(email: str | None) -> dict[str, object]:
    item = {"userId": "ann"} if email is None else {"userId": "ann", "email": email}
    return {"message": {"Items": [item]}}


def test_a_user_without_roles_keeps_its_own_profile(ann: Client, parts: Parts) -> None:
    assert profile(ann).body == profile_reply(None)
    assert parts.tables.get(USERS, {"userId": "ann"}) is None
    assert profile(ann, "POST", body={"email": "ann@example.org"}).body == profile_reply(
        "ann@example.org"
    )
    assert profile(ann).body == profile_reply("ann@example.org")
    # Without an address, what is stored stays; the same again is no change.
    assert profile(ann, "POST").body == profile_reply("ann@example.org")
    assert profile(ann, "POST", body={}).body == profile_reply("ann@example.org")
    assert [entry["entity"] for entry in entries(parts.tables)] == ["user:ann"]
    item = parts.tables.get(USERS, {"userId": "ann"}) or {}
    assert item["createdOn"] == "2026-03-01T12:00:00.000000Z"


def test_bookmarks_are_added_renamed_and_removed_by_their_addresses(
    ann: Client, parts: Parts
) -> None:
    def saved() -> dict[str, str]:
        (item,) = profile(ann).body["message"]["Items"]
        return {row["address"]: row["name"] for row in item.get("bookmarks") or ()}

    gears = {"name": "Gears <b>", "address": "/?q=gear"}
    lamp = {"name": "A lamp", "address": "/databases/library/assets/lamp"}
    profile(ann, "POST", body={"addBookmarks": [gears, lamp]})
    profile(ann, "POST", body={"email": "ann@example.org"})
    profile(ann, "POST", body={"addBookmarks": [{**gears, "name": "All gears"}]})
    assert saved() == {"/?q=gear": "All gears", lamp["address"]: "A lamp"}
    profile(ann, "POST", body={"removeBookmarks": ["/?q=gear", "/none"]})
    assert saved() == {lamp["address"]: "A lamp"}
    assert len(entries(parts.tables)) == 4
    many = [{"name": "x", "address": f"/?q={n}"} for n in range(MAX_BOOKMARKS)]
    reply = profile(ann, "POST", body={"addBookmarks": many})
    assert (reply.status, reply.body["errors"][0]["field"]) == (400, "addBookmarks")
    assert saved() == {lamp["address"]: "A lamp"}


@pytest.mark.parametrize(
    "address", ["", "x", "//example.org", "javascript:x", "/a b", "/ä", f"/{'x' * 2000}"]
)
def test_a_bookmark_is_an_address_in_the_page(ann: Client, address: str) -> None:
    body = {"addBookmarks": [{"name": "x", "address": address}]}
    reply = profile(ann, "POST", body=body)
    (error,) = reply.body["errors"]
    assert (reply.status, error["field"]) == (400, "addBookmarks.0.address")
    assert error["message"].startswith("must be an address in the page")


def test_bookmarks_that_two_requests_change_at_once_are_all_kept(
    services: AccessServices, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Identity("ann")
    bodies = [
        ProfileBody.model_validate({"addBookmarks": [{"name": "x", "address": f"/?q={n}"}]})
        for n in range(2)
    ]
    service = services.profiles
    read = service.profiles.get

    def get_between(user_id: str) -> Any:
        row = read(user_id)
        if bodies:
            service.store_profile(caller, "ann", bodies.pop())
        return row

    first = bodies.pop()
    monkeypatch.setattr(service.profiles, "get", get_between)
    kept = service.store_profile(caller, "ann", first).bookmarks or []
    assert {bookmark.address for bookmark in kept} == {"/?q=0", "/?q=1"}


def test_attributes_of_another_product_are_kept(ann: Client, parts: Parts) -> None:
    assert profile(ann, "POST").body == profile_reply(None)
    assert profile(ann).body == profile_reply(None)
    parts.tables.write(Put(table=USERS, item={"userId": "ann", "email": "a@x.org", "team": "blue"}))
    profile(ann, "POST", body={"email": "b@x.org"})
    item = parts.tables.get(USERS, {"userId": "ann"}) or {}
    assert (item["email"], item["team"]) == ("b@x.org", "blue")


def test_other_profiles_are_closed_and_pages_listed(ann: Client, services: AccessServices) -> None:
    admin = Client(services.router(), user_id="admin")
    for client, user in ((ann, "bob"), (admin, "ann")):
        for method in ("GET", "POST"):
            assert profile(client, method, user=user).status == 403
    pages = [{"method": "GET", "route__path": path} for path in ("/assets", "/auth/roles")]
    body = {"routes": pages}
    admin = Client(services.router(), user_id="admin")
    allowed = [{**page, "object__type": "web"} for page in pages]
    assert admin.send("POST", "/auth/routes", body=body).body == {
        "allowedRoutes": allowed,
        "email": "admin",
    }
    assert ann.send("POST", "/auth/routes", body=body).body == {
        "allowedRoutes": [],
        "email": "ann",
    }


@pytest.mark.parametrize("email", ["ann", "ann@", "@x.org", "a b@x.org", "a@x", "a@x..org", 5])
def test_what_is_no_address_is_refused(ann: Client, email: object) -> None:
    answer = profile(ann, "POST", body={"email": email})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "email")
    assert profile(ann).body == profile_reply(None)


def test_profiles_follow_the_credentials_of_the_caller(services: AccessServices) -> None:
    signed_in = Identity("idp-00u1", email="ann@idp.example", subject="00u1")
    assert services.profiles.get_profile(signed_in, "00u1").email == "ann@idp.example"
    assert (
        services.profiles.store_profile(signed_in, "00u1", ProfileBody(email=None)).user_id
        == "idp-00u1"
    )
    with pytest.raises(PermissionDeniedError):
        services.profiles.get_profile(Identity("idp-00u2", subject="00u2"), "00u1")
    signed_in = Identity("ann", email="ann@idp.example")
    kept = services.profiles.store_profile(signed_in, "ann", ProfileBody(email="other@example.org"))
    assert kept.email == "ann@idp.example"
    odd = Identity("ann", email="no address")
    assert (
        services.profiles.store_profile(odd, "ann", ProfileBody(email=None)).email
        == "ann@idp.example"
    )


@pytest.mark.parametrize(
    ("routes", "field"),
    [
        (None, "routes"),
        ("all", "routes"),
        ([{"method": "GET"}], "routes.0.route__path"),
        ([{"method": "LOOK", "route__path": "/x"}], "routes.0.method"),
        ([{"method": "GET", "route__path": ""}], "routes.0.route__path"),
        ([{"method": "GET", "route__path": "/x"}] * 1001, "routes"),
    ],
)
def test_wrong_pages_are_refused_by_field(ann: Client, routes: object, field: str) -> None:
    answer = ann.send("POST", "/auth/routes", body={"routes": routes})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


def test_mail_goes_to_a_confirmed_address_or_to_a_user_id_that_is_one(parts: Parts) -> None:
    for user, email in (("ann", "ann@x.org"), ("bob@x.org", ""), ("eve", "eve"), ("max", None)):
        item = {"userId": user} if email is None else {"userId": user, "email": email}
        parts.tables.write(Put(table=USERS, item={**item, "emailConfirmed": True}))
    parts.tables.write(Put(table=USERS, item={"userId": "ian", "email": "victim@x.org"}))
    stored_user_role(parts.tables, user_id="zoe@x.org")
    addresses = email_addresses(parts.tables)
    users = ["ann", "bob@x.org", "eve", "max", "ian", "zoe@x.org", "nobody", "ann"]
    ann, zoe = {"ann": "ann@x.org"}, {"zoe@x.org": "zoe@x.org"}
    assert addresses.of_users(users) == {**ann, **zoe, "bob@x.org": "bob@x.org"}
    assert addresses.of_known_users(users) == {**ann, **zoe}


def test_addresses_are_confirmed_by_credentials_and_administrators(parts: Parts) -> None:
    profiles = parts.services().profiles
    signed_in = Identity("ann", email="ann@x.org")

    def confirmed(caller: Identity, email: str | None = None) -> bool | None:
        return profiles.store_profile(caller, "ann", ProfileBody(email=email)).email_confirmed

    assert confirmed(Identity("ann"), "victim@x.org") is False
    assert confirmed(signed_in) is True
    assert confirmed(Identity("ann")) is True
    assert confirmed(Identity("ann"), "ann@x.org") is True
    assert confirmed(Identity("ann"), "victim@x.org") is False
    users = replace(parts, pool=MemoryUserPool()).services().users
    addresses = email_addresses(parts.tables)
    admin = Identity("admin")
    users.create_user(admin, CreateSignInBody(user_id="ann", email="ann@x.org"))
    assert addresses.of_known_users(["ann"]) == {"ann": "ann@x.org"}
    users.update_user(admin, "ann", UpdateSignInBody(email="new@x.org"))
    assert addresses.of_known_users(["ann"]) == {"ann": "new@x.org"}


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


ISSUER = "https://idp.example.org"
NAMES = {"issuer": ISSUER, "sub": "ann", "person": "corp.ann", "pooluser": "zoe"}
REQUESTS = stock.recorded(stock.RECORDED / "signing_in")


@pytest.fixture
def clients(parts: Parts) -> Mapping[str, Client]:
    """A client for the first part of each path."""
    pool = MemoryUserPool()
    pool.create_user("zoe", email="zoe@example.org", phone=None)
    parts = replace(parts, pool=pool, provider_prefix="corp.")
    access = parts.services().router()
    endpoints = Endpoints(f"{ISSUER}/authorize", f"{ISSUER}/token", f"{ISSUER}/about")
    configuration = ConfigurationService(
        features=FeatureRepository(parts.tables),
        region="eu-central-1",
        web_url="",
        openapi=dict,
        provider=SignInProvider(ISSUER, "web", "openid email", "", lambda: endpoints),
    )
    return {
        "api": Client(configuration_router(configuration), user_id=None),
        "auth": Client(access, user_id="corp.ann", subject="ann"),
        "user": Client(access),
    }


def test_stock_clients_are_served(clients: Mapping[str, Client]) -> None:
    """All requests in their order: later ones use what earlier ones kept."""
    names, result = dict(NAMES), dict[str, list[str]]()
    for request in REQUESTS:
        method, place = request.call.split(" ", 1)
        path = str(stock.filled(place, names))
        answer = clients[path.split("/")[1]].send(
            method,
            path,
            parameters={"userId": path.split("/")[3]} if "$" in place else None,
            query=stock.filled(request.query, names),
            body=stock.filled(request.body, names),
            headers={"host": "api.example.org"},
        )
        reply = httpx.Response(answer.status, json=answer.body)
        if broken := stock.problems(request, reply, request.expected, names):
            result[request.name] = broken
        else:
            names |= stock.kept(request, reply)
    assert result == {}
