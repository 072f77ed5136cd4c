"""Errors in a constraint are reported by field, and the constraint is not stored."""

import pytest

from tests.factories.constraints import constraint, criterion, groups, policies, rows, users
from tests.fakes.tables import MemoryTables
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
    api: Constraints, memory: MemoryTables, body: object, field: str, fact: str
) -> None:
    for method in ("POST", "PUT"):
        answer = api.put("see", body, method)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
        assert fact in answer.body["errors"][0]["message"]
    assert (rows(memory), policies(memory)) == ({}, {})


@pytest.mark.parametrize("name", ["a/b", "a#b", "", " ", "x" * 257])
def test_a_wrong_id_is_refused(api: Constraints, name: str) -> None:
    for answer in (api.put(name, constraint()), api.get(name), api.delete(name)):
        assert answer.status == 400


@pytest.mark.parametrize("text", ["^a.*$", "(a|b)+", "[", "*", "a') or True", "{{ROLE_NAME}}"])
def test_what_looks_like_a_pattern_or_code_is_kept_as_text(api: Constraints, text: str) -> None:
    assert api.put("see", constraint(criteriaAnd=[criterion(value=text)])).status == 200
    assert api.get("see").body["criteriaAnd"][0]["value"] == text
