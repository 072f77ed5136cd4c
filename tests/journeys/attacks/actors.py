"""Users with exactly the permissions with which an attack starts.

No attack creates an administrator: `test_administration` must know all administrators of the shared
runtime, because it removes the role from the last one.
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
    """Create a role with these rules; return its name."""
    role = unique("role")
    admin.ok("POST", "/roles", {"roleName": role, "description": "Of an attack"})
    for rule in rules:
        give_rule(admin, rule, groupPermissions=permissions("groupId", role))
    return role


def give_rule(admin: Api, rule: Rule, **granted: Any) -> str:
    """Create a constraint with one criterion for roles or users; return its id."""
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
    return [{grantee: name, "permission": action, "permissionType": effect} for action in actions]


def new_user(admin: Api, *roles: str) -> str:
    user = unique("user")
    admin.ok("POST", "/user-roles", {"userId": user, "roleName": list(roles)})
    return user


def connect(runtime: Runtime, user: str) -> Api:
    """Return a connection with a new API key of the user."""
    body = {"apiKeyName": "Own", "userId": user, "description": "Of an attack"}
    return runtime.client(runtime.client().ok("POST", "/auth/api-keys", body)["apiKey"])
