"""Operations on constraints and assignments of roles, for the page on costs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Request = tuple[str, Mapping[str, Any] | None]
Named = tuple[str, str, Callable[[int], Request]]
"""A name, a method, and a function that returns the nth request."""

RULES = 20
_METHODS = ("GET", "PUT", "POST", "DELETE")


def operations_on_constraints(call: Callable[..., Any]) -> Iterator[Named]:
    """Constraints of a role that has some rules already, and a role that is assigned to a user."""
    for name in ("curator", "guest"):
        call("POST", "/roles", {"roleName": name, "description": "What it is for"})
    for number in range(RULES):
        call("PUT", f"/auth/constraints/rule-{number:02}", _constraint("curator"))

    def gone(number: int) -> Request:
        call("PUT", f"/auth/constraints/gone-{number}", _constraint("curator"))
        return f"/auth/constraints/gone-{number}", None

    first = "/auth/constraints/rule-00"
    yield (
        f"change 1 of {RULES} constraints of a role",
        "PUT",
        lambda n: (first, _constraint("curator", f"museum-{n}")),
    )
    yield f"delete 1 of {RULES + 1} constraints of a role", "DELETE", gone
    yield "get a constraint", "GET", lambda _: (first, None)
    yield (
        "give a user a role",
        "POST",
        lambda n: ("/user-roles", {"userId": f"user-{n}", "roleName": ["guest"]}),
    )


def _constraint(role: str, database: str = "museum") -> Mapping[str, Any]:
    return {
        "name": "Curators see the museum",
        "description": "Show the assets of the museum",
        "objectType": "asset",
        "criteriaAnd": [{"field": "databaseId", "operator": "equals", "value": database}],
        "groupPermissions": [
            {"groupId": role, "permission": method, "permissionType": "allow"}
            for method in _METHODS
        ],
    }
