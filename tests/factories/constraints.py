"""Constraints as requests send them, and the contents of their tables."""

import json
from collections.abc import Mapping
from typing import Any

from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.spec.tables.access import CONSTRAINTS, POLICIES

Json = dict[str, Any]


def criterion(
    field: str = "databaseId", operator: str = "equals", value: Any = "museum", **more: Any
) -> Json:
    return {"field": field, "operator": operator, "value": value, **more}


def groups(*names: str, permission: str = "GET", type_: str = "allow") -> list[Json]:
    return [{"groupId": name, "permission": permission, "permissionType": type_} for name in names]


def users(*names: str, permission: str = "GET", type_: str = "allow") -> list[Json]:
    return [{"userId": name, "permission": permission, "permissionType": type_} for name in names]


def constraint(**other: Any) -> Json:
    """A body that allows the role `viewer` to see the assets of a database."""
    return {
        "name": "Viewers see",
        "description": "Assets of the museum",
        "objectType": "asset",
        "criteriaAnd": [criterion()],
        "criteriaOr": [],
        "groupPermissions": groups("viewer"),
        "userPermissions": [],
        **other,
    }


def rows(tables: Tables) -> dict[str, Json]:
    """The rows of constraints, by key."""
    items = tables.scan(CONSTRAINTS, PageRequest(1000)).items
    return {item["constraintId"]: item for item in items}


def policy(tables: Tables, key: str) -> list[Json]:
    """The rules of `role#<name>` or `user#<id>`."""
    item = tables.get(POLICIES, {"policyKey": key})
    return [] if item is None else item["rules"]


def epoch(tables: Tables) -> int:
    item = tables.get(POLICIES, {"policyKey": "epoch"})
    return 0 if item is None else int(item["n"])


def policies_by_rows(tables: Tables) -> dict[str, list[Json]]:
    """The rules of all grantees, calculated from the rows of constraints."""
    result: dict[str, list[Json]] = {}
    for _, row in sorted(rows(tables).items()):
        if "groupId" not in row and "userId" not in row:
            continue
        kind, name = ("role", row["groupId"]) if "groupId" in row else ("user", row["userId"])
        key = f"{kind}#{name}"
        lists = {item: json.loads(row[item]) for item in _LISTS}
        result.setdefault(key, []).append(_rule(row, lists, key))
    return result


def policies(tables: Tables) -> dict[str, list[Json]]:
    """The rules of all grantees that have any."""
    items = tables.scan(POLICIES, PageRequest(1000)).items
    return {item["policyKey"]: item["rules"] for item in items if item.get("rules")}


_LISTS = ("criteriaAnd", "criteriaOr", "groupPermissions", "userPermissions")


def _rule(row: Mapping[str, Any], lists: Mapping[str, list[Json]], key: str) -> Json:
    kind, _, name = key.partition("#")
    own = [
        element
        for element in (*lists["groupPermissions"], *lists["userPermissions"])
        if element.get("groupId" if kind == "role" else "userId") == name
    ]
    permissions: dict[str, str] = {}
    for item in sorted(own, key=lambda one: one["permissionType"]):  # denying rules come last
        permissions[item["permission"]] = item["permissionType"]
    return {
        "constraintId": row["constraintId"].split("#")[0],
        "objectType": row["objectType"],
        "criteriaAnd": [_bare(element) for element in lists["criteriaAnd"]],
        "criteriaOr": [_bare(element) for element in lists["criteriaOr"]],
        "permissions": permissions,
    }


def _bare(criterion: Json) -> Json:
    return {name: criterion[name] for name in ("field", "operator", "value")}
