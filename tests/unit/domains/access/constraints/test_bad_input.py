"""Errors in a constraint are reported by field; criteria that surprise are reported as warnings."""

import json
from typing import Any

import pytest

from backend.core.transactions import Put
from backend.spec.tables.access import POLICIES
from tests.factories.constraints import constraint, criterion, groups, policies, rows, users
from tests.unit.domains.access.constraints.conftest import Constraints

LONG = "x" * 1025


@pytest.mark.parametrize(
    ("body", "field", "fact"),
    [
        (constraint(objectType="planet"), "objectType", "must be one of database"),
        (constraint(objectType=5), "objectType", "must be text"),
        (constraint(name=""), "name", "at least 1"),
        (constraint(name="a\nb"), "name", "control"),
        (constraint(description="x" * 257), "description", "256"),
        (constraint(criteriaAnd=[criterion("color")]), "criteriaAnd.0.field", "databaseId"),
        (
            constraint(criteriaAnd=[criterion(), criterion("roleName", "is_not_one_of", ["x"])]),
            "criteriaAnd.1.field",
            "asset has no field roleName, only databaseId, assetName",
        ),
        (
            constraint(criteriaOr=[criterion("tagName", "contains", ".*")]),
            "criteriaOr.0.field",
            "asset has no field tagName",
        ),
        (
            constraint(objectType="api", criteriaAnd=[criterion()]),
            "criteriaAnd.0.field",
            "api has no field databaseId, only route__path, object__type",
        ),
        (constraint(criteriaAnd=[criterion(operator="matches")]), "criteriaAnd.0.operator", "eq"),
        (constraint(criteriaAnd=[criterion(value="")]), "criteriaAnd.0.value", "1 to"),
        (constraint(criteriaAnd=[criterion(value=None)]), "criteriaAnd.0.value", "text"),
        (constraint(criteriaAnd=[criterion(value=[])]), "criteriaAnd.0.value", "1 to 1000"),
        (constraint(criteriaAnd=[criterion(value={"a": 1})]), "criteriaAnd.0.value", "text"),
        (constraint(criteriaOr=[criterion(value=LONG)]), "criteriaOr.0.value", "1024"),
        (constraint(criteriaOr=[criterion(value="a\x00b")]), "criteriaOr.0.value", "control"),
        (
            constraint(criteriaAnd=[criterion(value=["a", "b"])]),
            "criteriaAnd.0.value",
            "single text",
        ),
        (
            constraint(criteriaAnd=[criterion("tags", "is_one_of", ["a", ""])]),
            "criteriaAnd.0.value",
            "1 to",
        ),
        (
            constraint(criteriaAnd=[criterion("tags", "is_one_of", ["a"] * 10_000)]),
            "criteriaAnd.0.value",
            "1 to 1000 values, not 10000",
        ),
        (
            constraint(criteriaAnd=[criterion("tags", "is_one_of", ["x" * 1000] * 100)]),
            "criteriaAnd",
            "the values have 100000 bytes together; at most 65536",
        ),
        (constraint(criteriaand=[criterion("tags")]), "criteriaand", "is not a field"),
        (constraint(criteria=[criterion("tags")]), "criteria", "is not a field"),
        (constraint(UserPermissions=users("ann")), "UserPermissions", "is not a field"),
        (constraint(criteriaAnd=[]), "criteriaAnd", "must have 1 to 100 criteria"),
        (constraint(criteriaAnd=[criterion()] * 101), "criteriaAnd", "100"),
        (
            constraint(criteriaAnd=[criterion()] * 60, criteriaOr=[criterion()] * 60),
            "criteriaAnd",
            "1 to 100 criteria together",
        ),
        (
            constraint(criteriaAnd=[criterion(id="c")], criteriaOr=[criterion(id="c")]),
            "criteriaAnd",
            "same id twice",
        ),
        (constraint(groupPermissions=groups("a/b")), "groupPermissions.0.groupId", "letters"),
        (
            constraint(groupPermissions=groups("viewer", permission="READ")),
            "groupPermissions.0.permission",
            "GET",
        ),
        (
            constraint(userPermissions=users("ann", type_="maybe")),
            "userPermissions.0.permissionType",
            "allow, deny",
        ),
        (constraint(userPermissions=users("a#b")), "userPermissions.0.userId", "letters"),
        (
            constraint(groupPermissions=groups("viewer", "ghost", "gone")),
            "groupPermissions",
            "role ghost, gone does not exist",
        ),
    ],
)
def test_a_wrong_constraint_is_refused_by_field(
    api: Constraints, body: object, field: str, fact: str
) -> None:
    for method in ("POST", "PUT"):
        answer = api.put("see", body, method)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
        assert fact in answer.body["errors"][0]["message"]
    assert (rows(api.memory), policies(api.memory)) == ({}, {})


@pytest.mark.parametrize("name", ["a/b", "a#b", "", " ", "x" * 257])
def test_a_wrong_id_is_refused(api: Constraints, name: str) -> None:
    for answer in (api.put(name, constraint()), api.get(name), api.delete(name)):
        assert answer.status == 400


@pytest.mark.parametrize("text", ["^a.*$", "(a|b)+", "[", "*", "a') or True", "{{ROLE_NAME}}"])
def test_what_looks_like_a_pattern_or_code_is_kept_as_text(api: Constraints, text: str) -> None:
    assert api.put("see", constraint(criteriaAnd=[criterion(value=text)])).status == 200
    assert api.get("see").body["criteriaAnd"][0]["value"] == text


def test_criteria_whose_meaning_surprises_are_reported(api: Constraints) -> None:
    assert "warning" not in api.put("see", constraint()).body
    done = api.put("see", constraint(criteriaOr=[criterion(value="zoo")]))
    assert done.status == 200
    assert "an allow needs all of criteriaAnd and one of criteriaOr" in done.body["warning"]
    assert done.body["warnings"] == [done.body["warning"]]

    piece = {
        "name": "See",
        "description": "x",
        "objectType": "asset",
        "criteriaAnd": [criterion()],
        "criteriaOr": [criterion("tags", "equals", "{{TAG}}")],
        "groupPermissions": [{"action": "GET", "type": "allow"}],
    }
    values = {"ROLE_NAME": "viewer", "TAG": "red"}
    body = {"variables": [], "variableValues": values, "constraints": [piece]}
    done = api.load(body)
    assert done.status == 200
    (warning,) = done.body["warnings"]
    assert warning.startswith("See: criteriaAnd and criteriaOr both have criteria")
    assert "warnings" not in api.load({**body, "constraints": [{**piece, "criteriaOr": []}]}).body
    api.put("see", constraint())
    key = {"policyKey": "constraint#see"}
    whole = api.memory.get(POLICIES, key)
    assert whole is not None
    for name, (body, wanted) in CHANGED.items():
        fields = constraint(**body)
        stored = {
            field: json.dumps(value) if isinstance(value, list) else value
            for field, value in fields.items()
        }
        api.memory.write(Put(table=POLICIES, item={**whole, **stored}))
        outcome = api.get("see").body
        result = outcome.get("changedMeaning", [])
        assert len(result) == len(wanted), (name, result)
        assert all(part in text for part, text in zip(wanted, result, strict=True)), (name, result)
        assert outcome["constraint"].get("changedMeaning", []) == result, name


DENIED = groups("viewer", type_="deny")
FOREIGN = criterion("roleName", "is_not_one_of", ["x"])
NEVER, ALWAYS = "never matches where the constraint allows", "always matches where the"
CHANGED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "one block": ({}, []),
    "both blocks allow": ({"criteriaOr": [criterion()]}, ["allows only what matches all"]),
    "both blocks deny": ({"criteriaOr": [criterion()], "groupPermissions": DENIED}, []),
    "a foreign negation allows": ({"criteriaAnd": [FOREIGN]}, [NEVER]),
    "a foreign negation denies": ({"criteriaAnd": [FOREIGN], "groupPermissions": DENIED}, []),
    "a foreign text allows": ({"criteriaAnd": [criterion("roleName")]}, []),
    "a foreign text denies": (
        {"criteriaAnd": [criterion("roleName")], "groupPermissions": DENIED}, [ALWAYS],
    ),
    "anything foreign allows": (
        {"criteriaAnd": [criterion("roleName", "contains", ".*")]}, [NEVER],
    ),
    "nothing foreign denies": (
        {"criteriaAnd": [criterion("roleName", "does_not_contain", ".*")],
         "groupPermissions": DENIED}, [ALWAYS],
    ),
    "a foreign negation of a strict type allows": (
        {"objectType": "role", "criteriaAnd": [criterion("userId", "is_not_one_of", ["x"])]}, [],
    ),
    "the type of object": ({"criteriaAnd": [criterion("object__type", "contains", "x")]}, []),
}  # fmt: skip
