"""Users with exactly the rights that an attack starts with.

No attack creates an administrator: `test_administration` needs to know all administrators of the
shared runtime, since it takes the role from the last one.
"""

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime

ACTIONS = ("GET", "PUT", "POST", "DELETE")
ANY_ROUTE = ("api", "route__path", "contains", ".*")

Rule = tuple[str, str, str, Any]
"""Object type, field, operator and value of a rule that allows every action."""


def unique(word: str) -> str:
    return f"{word}-{uuid4().hex[:8]}"


def new_role(admin: Api, *rules: Rule) -> str:
    """Return a new role that these rules are given to."""
    role = unique("role")
    admin.ok("POST", "/roles", {"roleName": role, "description": "Of an attack"})
    for rule in rules:
        give_rule(admin, rule, groupPermissions=permissions("groupId", role))
    return role


def give_rule(admin: Api, rule: Rule, **granted: Any) -> str:
    """Return the id of a new constraint with one criterion, given to roles or users."""
    object_type, field, operator, value = rule
    constraint_id = unique("rule")
    body = {
        "name": constraint_id,
        "description": "Of an attack",
        "objectType": object_type,
        "criteriaAnd": [{"field": field, "operator": operator, "value": value}],
        **granted,
    }
    admin.ok("POST", f"/auth/constraints/{constraint_id}", body)
    return constraint_id


def permissions(
    grantee: str, name: str, effect: str = "allow", actions: Iterable[str] = ACTIONS
) -> list[dict[str, str]]:
    """Return actions, allowed or denied to a role (`groupId`) or a user (`userId`)."""
    return [{grantee: name, "permission": each, "permissionType": effect} for each in actions]


def new_user(admin: Api, *roles: str) -> str:
    user = unique("user")
    admin.ok("POST", "/user-roles", {"userId": user, "roleName": list(roles)})
    return user


def connect(runtime: Runtime, user: str) -> Api:
    """Return a connection with a new API key of the user."""
    body = {"apiKeyName": "Own", "userId": user, "description": "Of an attack"}
    return runtime.client(runtime.client().ok("POST", "/auth/api-keys", body)["apiKey"])
