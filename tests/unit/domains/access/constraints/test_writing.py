"""Constraints are written, read and removed: rows, rules, epoch and entry in one transaction."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from backend.core.transactions import Put, Write
from backend.domains.access.policy.model import parse_rule
from backend.spec.tables.access import POLICIES
from tests.factories.administration import stored_role
from tests.factories.audit import entries
from tests.factories.constraints import (
    constraint,
    criterion,
    epoch,
    groups,
    policies,
    policies_by_rows,
    policy,
    rows,
    users,
)
from tests.factories.http import operation_reply
from tests.factories.tables import before_next_write
from tests.fakes.tables import MemoryTables
from tests.unit.domains.access.constraints.conftest import LARGE, Constraints

NAMES = [f"user-{number:02}" for number in range(40)]
NOON = "2026-03-01T12:00:00.000000Z"


def test_a_constraint_has_a_row_for_each_grantee(api: Constraints) -> None:
    body = constraint(groupPermissions=groups("viewer", "editor"), userPermissions=users("ann"))
    made = api.put("see", {**body, "identifier": "other"}, "POST")
    assert made.body == operation_reply("Constraint see was created", "create", constraintId="see")
    result = rows(api.memory)
    assert sorted(result) == ["see#group#editor", "see#group#viewer", "see#user#ann"]
    row = result["see#group#viewer"]
    assert (row["groupId"], row["objectType"], row["createdBy"]) == ("viewer", "asset", "admin")
    assert "userId" not in row
    assert json.loads(row["criteriaAnd"]) == [criterion()]
    assert json.loads(row["groupPermissions"]) == groups("viewer", "editor")

    api.put("see", constraint(groupPermissions=groups("viewer"), userPermissions=users("ann")))
    changed = constraint(
        groupPermissions=groups("editor", permission="DELETE", type_="deny"),
        userPermissions=users("ann"),
        objectType="database",
    )
    assert api.put("see", changed, "POST").body["operation"] == "update"
    assert sorted(rows(api.memory)) == ["see#group#editor", "see#user#ann"]
    assert policies(api.memory) == policies_by_rows(api.memory)
    assert set(policies(api.memory)) == {"role#editor", "user#ann"}

    api.put("see", constraint(userPermissions=users("ann")))
    assert api.delete("see").body["operation"] == "delete"
    assert (rows(api.memory), policies(api.memory)) == ({}, {})
    assert (api.get("see").status, api.delete("see").status) == (404, 404)


def test_each_grantee_has_the_rules_at_once_as_written(api: Constraints) -> None:
    api.put("see", constraint())
    api.put("edit", constraint(groupPermissions=groups("viewer", permission="PUT")))
    rules = policy(api.memory, "role#viewer")
    assert [rule["constraintId"] for rule in rules] == ["edit", "see"]
    assert rules[1] == {
        "constraintId": "see",
        "objectType": "asset",
        "criteriaAnd": [criterion()],
        "criteriaOr": [],
        "permissions": {"GET": "allow"},
    }
    assert parse_rule(rules[1]).effects == {"GET": "allow"}
    assert epoch(api.memory) == 2
    body = constraint(
        criteriaAnd=[criterion(id="c1"), criterion("tags", "is_one_of", ["a", "b"])],
        userPermissions=users("ann", type_="deny"),
    )
    api.put("see", body)
    result = api.get("see").body
    assert result.pop("constraint") == result
    times = {"dateCreated": NOON, "dateModified": NOON}
    people = {"createdBy": "admin", "modifiedBy": "admin"}
    assert result == {**body, "constraintId": "see", **times, **people}


def test_constraints_are_listed_once_each_and_returned_twice(api: Constraints) -> None:
    api.put("a", constraint(groupPermissions=groups("viewer", "editor")))
    api.put("b", constraint(userPermissions=users("ann", "bob")))
    api.put("c", constraint(groupPermissions=[]))
    names: list[str] = []
    for page in api.read_pages("/auth/constraints", pageSize="1"):
        assert page.pop("message") == page
        names += [row["constraintId"] for row in page["Items"]]
    assert sorted(names) == ["a", "b", "c"]


def test_each_write_of_a_constraint_has_its_entry(api: Constraints) -> None:
    api.put("see", constraint(), "POST")
    api.put("see", constraint(name="Seeing"))
    api.delete("see")
    result = [entry for entry in entries(api.memory) if entry["entity"] == "constraint:see"]
    operations = {entry["operation"]: entry["changes"] for entry in result}
    assert operations.keys() == {"create_constraint", "update_constraint", "delete_constraint"}
    assert operations["update_constraint"]["name"] == {"before": "Viewers see", "after": "Seeing"}


def test_a_constraint_has_forty_grantees_and_no_more(api: Constraints) -> None:
    both = [*groups("viewer"), *groups("viewer", type_="deny"), *groups("viewer")]
    made = api.put("see", constraint(groupPermissions=both)).body
    assert made["warnings"] == ["role viewer is both allowed and denied GET: it is denied"]
    assert policy(api.memory, "role#viewer")[0]["permissions"] == {"GET": "deny"}
    value = constraint(groupPermissions=[], userPermissions=users(*NAMES))
    assert api.put("see", value).status == 200
    assert len(rows(api.memory)) == 40
    refused = api.put("see", constraint(userPermissions=users(*NAMES)))
    assert refused.status == 400
    assert "name 41 roles and users; a constraint can have at most 40" in refused.body["message"]


@pytest.mark.parametrize(
    ("doubtful", "warning"),
    [
        (
            {"field": "assetName", "value": "e\u0301"},
            "the value of equals is not: it matches nothing",
        ),
        ({"field": "assetName", "operator": "is_one_of", "value": ["a", "e\u0301"]}, "(NFC)"),
        (
            {"field": "assetName", "operator": "is_one_of", "value": ["Gear", "Ge\u200bar"]},
            "displayed as another text: new names must not contain the invisible character U+200B",
        ),
    ],
)
def test_of_doubtful_criteria_the_writer_is_warned(
    api: Constraints, doubtful: dict[str, Any], warning: str
) -> None:
    sure = [criterion(), criterion(field="object__type", value="asset")]
    assert "warnings" not in api.put("see", constraint(criteriaAnd=sure)).body
    result = {"operator": "equals", "value": "x", **doubtful}
    reply = api.put("see", constraint(criteriaAnd=[*sure, result])).body["warnings"]
    assert len(reply) == 1
    assert warning in reply[0]


def test_a_write_that_touches_too_many_before_and_after_is_refused_with_the_fact(
    api: Constraints,
) -> None:
    def given(first: int, count: int) -> dict[str, Any]:
        names = [f"user-{number:02}" for number in range(first, first + count)]
        criteria = [criterion(value=f"museum-{first}")]
        return constraint(criteriaAnd=criteria, groupPermissions=[], userPermissions=users(*names))

    assert api.put("see", given(0, 40)).status == 200
    before = (rows(api.memory), policies(api.memory))
    refused = api.put("see", given(10, 39))
    assert refused.status == 400
    assert (
        "affects 49 roles and users, before and after, and needs 101 writes"
        in (refused.body["message"])
    )
    assert (rows(api.memory), policies(api.memory)) == before
    assert api.put("see", given(8, 40)).status == 200
    assert policies(api.memory) == policies_by_rows(api.memory)


def test_rules_that_would_not_fit_into_an_item_are_refused_naming_whose_they_are(
    api: Constraints,
) -> None:
    large = constraint(criteriaAnd=[LARGE])
    statuses = [api.put(f"large-{number}", large).status for number in range(6)]
    assert statuses == [200] * 6
    refused = api.put("large-6", large)
    assert (refused.status, refused.body["code"]) == (413, "PolicyTooLarge")
    assert "the rules of role viewer would have" in refused.body["message"]
    assert len(policy(api.memory, "role#viewer")) == 6
    assert api.get("large-6").status == 404


def test_a_change_that_would_not_fit_into_a_transaction_is_refused(api: Constraints) -> None:
    large = constraint(criteriaAnd=[LARGE], userPermissions=users(*NAMES[1:]))
    refused = api.put("large", large)
    assert (refused.status, refused.body["code"]) == (413, "PolicyTooLarge")
    assert "for fewer roles and users at a time" in refused.body["message"]


def test_changes_that_others_overtake_are_not_lost(api: Constraints) -> None:
    before_next_write(api.memory, lambda: api.put("other", constraint()))
    assert api.put("see", constraint()).status == 200
    rules = policy(api.memory, "role#viewer")
    assert [rule["constraintId"] for rule in rules] == ["other", "see"]
    api.put("see", constraint())
    before_next_write(api.memory, lambda: api.put("other", constraint(name="Other")))
    assert api.delete("see").status == 200
    assert sorted(rows(api.memory)) == ["other#group#viewer"]
    assert policies(api.memory) == policies_by_rows(api.memory)


def test_a_change_of_the_same_constraint_meanwhile_leaves_no_row_of_it(api: Constraints) -> None:
    def again() -> None:
        api.delete("see")
        api.put("see", constraint(groupPermissions=groups("editor")))

    api.put("see", constraint(groupPermissions=groups("editor", "viewer")))
    before_next_write(api.memory, again)
    assert api.put("see", constraint(groupPermissions=groups("viewer"))).status == 200
    assert sorted(rows(api.memory)) == ["see#group#viewer"]
    assert policies(api.memory) == policies_by_rows(api.memory)


def test_a_role_deleted_meanwhile_is_given_nothing(api: Constraints) -> None:
    before_next_write(api.memory, lambda: api.delete_role("viewer"))
    refused = api.put("see", constraint())
    assert (refused.status, "role viewer does not exist" in refused.body["message"]) == (400, True)
    assert (rows(api.memory), policies(api.memory)) == ({}, {})
    stored_role(api.memory, "viewer")
    assert api.put("see", constraint()).status == 200


def test_a_change_that_others_always_overtake_ends_with_a_conflict(api: Constraints) -> None:
    class ChangingTables(MemoryTables):
        def transact(self, writes: Sequence[Write]) -> None:
            rules: dict[str, object] = {"policyKey": "role#viewer", "rules": []}
            count = (self.get(POLICIES, {"policyKey": "role#viewer"}) or {}).get("revision", 0)
            self.write(Put(table=POLICIES, item={**rules, "revision": count + 1}))
            MemoryTables.transact(self, writes)

    api.memory.__class__ = ChangingTables
    refused = api.put("see", constraint())
    assert (refused.status, refused.body["code"]) == (412, "ConstraintRevisionConflict")
    assert rows(api.memory) == {}


def test_a_deny_is_in_force_before_during_and_after_an_update(api: Constraints) -> None:
    """No state between two transactions shows the rules without it."""
    seen: list[object] = []

    class Watched(MemoryTables):
        def transact(self, writes: Sequence[Write]) -> None:
            MemoryTables.transact(self, writes)
            seen.append(policy(self, "role#viewer")[0]["permissions"])

        def write(self, write: Write) -> Any:
            raise AssertionError("a constraint is written by transactions only")

    denied = groups("viewer", type_="deny")
    api.put("see", constraint(groupPermissions=denied))
    api.memory.__class__ = Watched
    api.put("see", constraint(groupPermissions=denied, criteriaAnd=[criterion(value="gallery")]))
    api.put("see", constraint(groupPermissions=denied, name="Renamed"))
    assert seen == [{"GET": "deny"}] * 2


def test_one_that_is_too_large_to_delete_at_once_is_deleted_in_steps(api: Constraints) -> None:
    """Unchanged rules are not written."""
    api.put("see", constraint(groupPermissions=[], userPermissions=users(*NAMES)))
    for number in range(8):
        value = users(*NAMES[number * 5 : number * 5 + 5])
        for item in ("a", "b"):
            body = constraint(criteriaAnd=[LARGE], groupPermissions=[], userPermissions=value)
            assert api.put(f"{item}{number}", body).status == 200
    refused = api.delete("see")
    assert (refused.status, refused.body["code"]) == (413, "PolicyTooLarge")
    few = constraint(groupPermissions=[], userPermissions=users(*NAMES[:20]))
    assert api.put("see", few).status == 200
    assert api.delete("see").status == 200
    assert policies(api.memory) == policies_by_rows(api.memory)
