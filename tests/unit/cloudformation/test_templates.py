"""Templates that CloudFormation refuses before it creates anything."""

import json
from typing import Any

import pytest

from tests.cloudformation.templates import RefusedError, changed_indexes, read
from tests.unit.cloudformation.conftest import QUEUE


def _text(resources: dict[str, Any], **sections: Any) -> str:
    return json.dumps({"Resources": resources, **sections})


def _queues(count: int) -> dict[str, Any]:
    return {f"Queue{number}": QUEUE for number in range(count)}


def _outputs(count: int) -> dict[str, Any]:
    return {f"Out{number}": {"Value": "a"} for number in range(count)}


def test_templates_at_the_limits_are_accepted() -> None:
    template = read("a", _text(_queues(500), Outputs=_outputs(200)))
    assert len(template.resources) == 500
    assert read("a", _text(_queues(1)).ljust(1_000_000))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("{", "JSON not well-formed"),
        ("[]", "At least one Resources member"),
        (_text({}), "At least one Resources member"),
        (_text(_queues(1)).ljust(1_000_001), "may not exceed 1000000 bytes"),
        (_text(_queues(501)), "Number of resources, 501, is greater than maximum allowed, 500"),
        (_text(_queues(1), Outputs=_outputs(201)), "Number of outputs, 201"),
        (_text({"A": {**QUEUE, "DependsOn": "B"}}), r"dependencies \[B\] in the Resources block"),
        (_text({"A": {**QUEUE, "DependsOn": ["B"]}}), r"dependencies \[B\] in the Resources block"),
        (_text({"A": {**QUEUE, "Properties": {"N": {"Ref": "B"}}}}), r"dependencies \[B\]"),
        (_text(_queues(1), Outputs={"O": {"Value": {"Ref": "B"}}}), "in the Outputs block"),
        (
            _text({"A": {**QUEUE, "DependsOn": "B"}, "B": {**QUEUE, "DependsOn": ["A"]}}),
            "Circular dependency between resources",
        ),
        (
            _text(
                {
                    "A": {**QUEUE, "DependsOn": "B"},
                    "B": {**QUEUE, "Properties": {"N": {"Fn::GetAtt": ["A", "Arn"]}}},
                }
            ),
            "Circular dependency between resources",
        ),
    ],
)
def test_what_is_refused_is_named(text: str, fact: str) -> None:
    with pytest.raises(RefusedError, match=fact):
        read("a", text)


def test_each_policy_of_deletion_keeps_its_resources() -> None:
    kept = {
        policy: read("a", _text({"A": {**QUEUE, "DeletionPolicy": policy}}))
        for policy in ("Delete", "Retain", "RetainExceptOnCreate")
    }
    result = {
        policy: (item.keeps("A", creating=True), item.keeps("A", creating=False))
        for policy, item in kept.items()
    }
    assert result == {
        "Delete": (False, False),
        "Retain": (True, True),
        "RetainExceptOnCreate": (False, True),
    }
    assert not read("a", _text({"A": QUEUE})).keeps("A", creating=False)


def test_indexes_that_are_added_removed_or_changed_are_found() -> None:
    def table(**indexes: str) -> dict[str, Any]:
        declared = [{"IndexName": name, "KeySchema": key} for name, key in indexes.items()]
        return {"Properties": {"GlobalSecondaryIndexes": declared}}

    assert changed_indexes(table(a="x"), table(a="x")) == set()
    assert changed_indexes(table(a="x"), table(a="y", b="x")) == {"a", "b"}
    assert changed_indexes(table(a="x"), {"Type": "AWS::DynamoDB::Table"}) == {"a"}
