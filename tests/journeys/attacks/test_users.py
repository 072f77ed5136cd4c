"""Keys, users and subscriptions: an attacker cannot take over users, or send mail to strangers."""

from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.attacks.actors import (
    ANY_ROUTE,
    connect,
    give_rule,
    new_role,
    new_user,
    permissions,
)
from tests.journeys.runtime import Api, Runtime, wait_until
from tests.journeys.test_administration import rule_of

SOON, LATER = "2099-01-01", "2099-12-31"


def user_with_role(admin: Api, role: str | None = None) -> str:
    """Create a user who has an empty role of its own, or this one."""
    name = f"keys-{uuid4().hex[:12]}"
    if role is None:
        role = name
        admin.ok("POST", "/roles", {"roleName": role, "description": "of one user"})
    admin.ok("POST", "/user-roles", {"userId": name, "roleName": [role]})
    return name


def new_key(by: Api, user: str, **more: str) -> dict[str, Any]:
    body = {"apiKeyName": "stolen", "description": "For the lab", "userId": user, **more}
    return by.ok("POST", "/auth/api-keys", body)


def allow_key_routes(admin: Api, user: str) -> None:
    """Allow a user the routes of keys. Every user of these routes may manage its own keys."""
    rule: dict[str, Any] = {
        "name": "key routes",
        "description": "Own keys",
        "objectType": "api",
        "criteriaAnd": [
            {"field": "route__path", "operator": "starts_with", "value": "/auth/api-keys"}
        ],
        "userPermissions": [
            {"userId": user, "permission": action, "permissionType": "allow"}
            for action in ("GET", "PUT", "POST", "DELETE")
        ],
    }
    admin.ok("POST", f"/auth/constraints/{user}-routes", rule)


def path_of(key: dict[str, Any]) -> str:
    return f"/auth/api-keys/{key['apiKeyId']}"


def is_accepted(runtime: Runtime, key: dict[str, Any]) -> bool:
    return runtime.client(key["apiKey"]).send("GET", "/secure-config").status_code == 200


@pytest.mark.parametrize(
    ("ended", "reopened"),
    [({"isActive": "false"}, {"isActive": "true"}), ({"expiresAt": SOON}, {"expiresAt": LATER})],
)
def test_an_owner_cannot_reopen_a_key_that_an_administrator_ended(
    runtime: Runtime, api: Api, ended: dict[str, str], reopened: dict[str, str]
) -> None:
    user = user_with_role(api)
    allow_key_routes(api, user)
    key, other = new_key(api, user), new_key(api, user)
    owner = runtime.client(other["apiKey"])
    wait_until(lambda: owner.send("PUT", path_of(key), ended).status_code == 200)
    owner.ok("PUT", path_of(key), reopened)
    api.ok("PUT", path_of(key), ended)
    assert owner.refused("PUT", path_of(key), reopened)[0] == 403
    assert owner.refused("PUT", path_of(other), {"description": "Itself"})[0] == 403
    api.ok("PUT", path_of(key), reopened)


def test_keys_end_with_the_key_that_created_them(runtime: Runtime, api: Api) -> None:
    user = user_with_role(api, new_role(api, ANY_ROUTE))
    stolen = new_key(api, user, expiresAt=SOON)
    thief = runtime.client(stolen["apiKey"])
    assert thief.refused("PUT", path_of(stolen), {"expiresAt": ""})[0] == 403
    later = {"apiKeyName": "x", "description": "Lasts", "userId": user, "expiresAt": LATER}
    assert thief.refused("POST", "/auth/api-keys", later)[0] == 400
    child = new_key(thief, user)
    assert child["expiresAt"] == SOON
    assert is_accepted(runtime, child)
    api.ok("PUT", path_of(stolen), {"isActive": "false"})
    wait_until(lambda: not is_accepted(runtime, child))
    assert not is_accepted(runtime, stolen)


def roles_of(admin: Api, user: str) -> list[str]:
    items = admin.ok("GET", "/user-roles")["Items"]
    return {item["userId"]: item["roleName"] for item in items}.get(user, [])


def test_a_help_desk_cannot_change_users_with_more_permissions(runtime: Runtime) -> None:
    admin = runtime.client()
    keeper, viewer, guest = new_role(admin), new_role(admin), new_role(admin)
    others = ("userRole", "roleName", "is_not_one_of", ["admin", keeper])
    desk = connect(runtime, new_user(admin, new_role(admin, ANY_ROUTE, others)))
    plain, both, ruled = (
        new_user(admin, viewer),
        new_user(admin, viewer, keeper),
        new_user(admin, viewer),
    )
    everything = ("asset", "databaseId", "contains", ".*")
    rule = give_rule(admin, everything, userPermissions=permissions("userId", ruled))
    for victim in (both, ruled):
        before = roles_of(admin, victim)
        for method, body in (
            ("POST", {"userId": victim, "roleName": [guest]}),
            ("PUT", {"userId": victim, "roleName": [*before, guest]}),
            ("PUT", {"userId": victim, "roleName": [guest]}),
            ("DELETE", {"userId": victim}),
        ):
            status, reply = desk.refused(method, "/user-roles", body)
            assert (status, reply["code"]) == (403, "PermissionDenied")
        key = {"apiKeyName": "Taken", "userId": victim, "description": "Of an attack"}
        assert desk.refused("POST", "/auth/api-keys", key)[0] == 403
        assert desk.refused("GET", f"/auth/loginProfile/{victim}")[0] == 403
        assert roles_of(admin, victim) == before
    desk.ok("POST", "/user-roles", {"userId": plain, "roleName": [guest]})
    desk.ok("PUT", "/user-roles", {"userId": plain, "roleName": [guest]})
    desk.ok("DELETE", "/user-roles", {"userId": plain})
    admin.ok("DELETE", f"/auth/constraints/{rule}")
    desk.ok("PUT", "/user-roles", {"userId": ruled, "roleName": [guest]})


def test_only_confirmed_addresses_of_known_users_are_subscribed(
    runtime: Runtime, database: str
) -> None:
    admin = runtime.client()
    asset = admin.new_asset(database, "A statue")
    role = new_role(admin, ANY_ROUTE, ("asset", "databaseId", "equals", database))
    sender, known, named = (f"mail-{uuid4().hex[:8]}@example.org" for _ in range(3))
    for user in (sender, known):
        admin.ok("POST", "/user-roles", {"userId": user, "roleName": [role]})
    key = {"apiKeyName": "Own", "description": "Its own", "userId": sender}
    own = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
    own.ok("POST", f"/auth/loginProfile/{sender}", {"email": "victim@example.org"})
    plain = f"plain-{uuid4().hex[:8]}"
    admin.ok("POST", "/user-roles", {"userId": plain, "roleName": [role]})
    key = {"apiKeyName": "Own", "description": "Its own", "userId": plain}
    other = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
    other.ok("POST", f"/auth/loginProfile/{plain}", {"email": "victim@example.org"})

    own.ok("POST", "/subscriptions", rule_of(asset, known))
    for user in (named, plain, "nobody"):
        status, body = own.refused("POST", "/subscriptions", rule_of(asset, user))
        assert (status, body["errors"][0]["field"]) == (400, "subscribers")
    guesses = [f"guess-{number}@example.org" for number in range(50)]
    refused = {own.send("POST", "/subscriptions", rule_of(asset, *guesses)) for _ in range(4)}
    limited = [answer for answer in refused if answer.status_code == 429]
    assert {answer.status_code for answer in refused} <= {400, 429}
    assert limited
    assert 0 < int(limited[0].headers["Retry-After"]) <= 60
    for user in (sender, known, plain):
        admin.ok("DELETE", "/user-roles", {"userId": user})
