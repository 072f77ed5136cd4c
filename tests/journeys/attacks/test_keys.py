"""A stolen API key ends when a user or administrator ends it."""

from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.attacks.actors import ANY_ROUTE, new_role
from tests.journeys.runtime import Api, Runtime, wait_until

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
