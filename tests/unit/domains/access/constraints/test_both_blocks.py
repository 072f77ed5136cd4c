"""Warnings about criteria in both blocks, and about fields of other types."""

import json
from typing import Any

from backend.core.transactions import Put
from backend.spec.tables.access import POLICIES
from tests.factories.constraints import constraint, criterion, groups
from tests.fakes.tables import MemoryTables
from tests.unit.domains.access.constraints.conftest import Constraints


def test_of_criteria_in_both_blocks_the_writer_learns_how_they_decide(api: Constraints) -> None:
    assert "warning" not in api.put("see", constraint()).body
    done = api.put("see", constraint(criteriaOr=[criterion(value="zoo")]))
    assert done.status == 200
    assert "an allow needs all of criteriaAnd and one of criteriaOr" in done.body["warning"]
    assert done.body["warnings"] == [done.body["warning"]]


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


def test_stored_constraints_whose_meaning_changed_are_marked(
    api: Constraints, memory: MemoryTables
) -> None:
    api.put("see", constraint())
    key = {"policyKey": "constraint#see"}
    whole = memory.get(POLICIES, key)
    assert whole is not None
    for name, (body, wanted) in CHANGED.items():
        fields = constraint(**body)
        stored = {
            field: json.dumps(value) if isinstance(value, list) else value
            for field, value in fields.items()
        }
        memory.write(Put(table=POLICIES, item={**whole, **stored}))
        found = api.get("see").body
        result = found.get("changedMeaning", [])
        assert len(result) == len(wanted), (name, result)
        assert all(part in text for part, text in zip(wanted, result, strict=True)), (name, result)
        assert found["constraint"].get("changedMeaning", []) == result, name


def test_a_template_with_criteria_in_both_blocks_is_imported_with_a_warning(
    api: Constraints,
) -> None:
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
