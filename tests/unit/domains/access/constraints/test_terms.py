"""The terms that constraints accept, for editors of constraints."""

from collections.abc import Iterator
from typing import Any

import pytest

from backend.domains.access.policy.model import FIELDS_OF, OBJECT_TYPES, OPERATORS
from tests.factories.constraints import constraint, criterion, groups
from tests.unit.domains.access.constraints.conftest import Constraints

TERMS = "/auth/constraints/permissionObjects"


def terms(api: Constraints) -> dict[str, Any]:
    answer = api.send("GET", TERMS)
    assert answer.status == 200, answer.body
    return answer.body["message"]


def values(listed: list[dict[str, str]]) -> Iterator[str]:
    for term in listed:
        assert term["label"]
        assert term["label"][0].isupper()
        yield term["value"]


def test_everything_that_is_listed_is_accepted(api: Constraints, subtests: pytest.Subtests) -> None:
    listed = terms(api)
    assert [*values(listed["objectTypes"])] == list(OBJECT_TYPES)
    assert [*values(listed["operators"])] == list(OPERATORS)
    assert {"bucket", "databasePurge"} <= {*values(listed["objectTypes"])}
    effects = [*values(listed["permissionTypes"])]
    for kind in listed["objectTypes"]:
        assert {*values(kind["fields"])} == {*FIELDS_OF[kind["value"]], "object__type"}
        for field in kind["fields"]:
            with subtests.test(kind["value"], field=field["value"]):
                body = constraint(
                    objectType=kind["value"],
                    criteriaAnd=[criterion(field["value"], "equals", "x")],
                    groupPermissions=[
                        permission
                        for action in values(listed["permissions"])
                        for permission in groups("viewer", permission=action, type_=effects[0])
                    ],
                )
                assert api.put("rule", body).status == 200


def test_its_path_is_the_id_of_no_constraint(api: Constraints) -> None:
    for method in ("PUT", "POST"):
        answer = api.put("permissionObjects", constraint(), method)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "constraintId")
    assert api.send("GET", "/auth/constraints").body["Items"] == []
