"""Rules are parsed completely, or rejected."""

from typing import Any

import pytest

from backend.domains.access.policy.model import (
    EFFECTS,
    FIELDS,
    OBJECT_TYPES,
    BadRuleError,
    Block,
    Criterion,
    parse_rule,
)
from tests.factories.policies import stored

OURS = {"bucket", "databasePurge"}
"""Object types that the data model lacks: to adopt what is in a bucket, and to purge a deleted
database, which DELETE does not give."""
OUR_FIELDS = {"bucketId"}


def test_the_types_and_fields_are_those_of_the_data_model() -> None:
    types = "database asset api web tag tagType role userRole pipeline workflow metadataSchema"
    fields = (
        "databaseId assetName assetType tags tagName tagTypeName roleName userId pipelineId "
        "pipelineType pipelineExecutionType workflowId metadataSchemaName "
        "metadataSchemaEntityType object__type route__path"
    )
    assert set(OBJECT_TYPES) - OURS == set(types.split())
    assert set(FIELDS) - OUR_FIELDS == set(fields.split())


def test_a_stored_rule_is_read() -> None:
    rule = parse_rule(
        stored(
            "asset",
            ("tags", "is_one_of", ["a", "b"]),
            any_of=[("databaseId", "equals", "db1")],
            actions=["GET"],
        )
    )
    assert rule.all_of == (Criterion("tags", "is_one_of", ("a", "b")),)
    assert rule.any_of == (Criterion("databaseId", "equals", ("db1",)),)
    assert rule.effects == {"GET": "allow"}
    assert rule.blocks("allow") == [Block(rule.all_of, rule.any_of)]
    assert rule.blocks("deny") == [Block(rule.all_of), Block((), rule.any_of)]


def test_a_rule_without_criteria_applies_to_nothing() -> None:
    rule = parse_rule(stored("asset"))
    assert [rule.blocks(effect) for effect in EFFECTS] == [[], []]


GOOD = stored("asset", ("tags", "equals", "x"))


BROKEN: list[dict[str, Any]] = [
    {"objectType": "planet"},
    {"objectType": None},
    {"permissions": None},
    {"permissions": {"HEAD": "allow"}},
    {"permissions": {"GET": "maybe"}},
    {"criteriaAnd": "x"},
    {"criteriaAnd": ["x"]},
    {"criteriaAnd": [{"field": "colour", "operator": "equals", "value": "x"}]},
    {"criteriaAnd": [{"field": "tags", "operator": "matches", "value": "x"}]},
    {"criteriaAnd": [{"field": "tags", "operator": "equals", "value": ""}]},
    {"criteriaAnd": [{"field": "tags", "operator": "equals"}]},
    {"criteriaAnd": [{"field": "tags", "operator": "equals", "value": ["x"]}]},
    {"criteriaOr": [{"field": "tags", "operator": "is_one_of", "value": []}]},
    {"criteriaOr": [{"field": "tags", "operator": "is_one_of", "value": ["x", 1]}]},
    {"criteriaOr": [{"field": "tags", "operator": "is_one_of", "value": ["x", ""]}]},
]


@pytest.mark.parametrize("broken", BROKEN)
def test_an_ambiguous_rule_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(BadRuleError, match="Constraint"):
        parse_rule({**GOOD, **broken})
