"""Each operator on absent, empty and several values, for every object type that is declared."""

from collections.abc import Iterator, Mapping
from typing import get_args

import pytest

from backend.core.authorization import SecuredType
from backend.domains.access.policy.explain import explain
from backend.domains.access.policy.model import (
    ACTIONS,
    FIELDS,
    FIELDS_OF,
    NEGATIONS,
    OBJECT_TYPE_FIELD,
    OBJECT_TYPES,
    OPERATORS,
    STRICT_TYPES,
    Fields,
    Rule,
    parse_rule,
)
from backend.domains.access.policy.predicate import Predicate
from backend.domains.access.policy.search_filter import search_filter
from tests.factories.policies import everything, finds, indexed, stored

VALUES: dict[str, str | tuple[str, ...] | None] = {
    "absent": None,
    "empty": "",
    "no texts": (),
    "empty text": ("",),
    "same": "red",
    "other": "blue",
    "several with": ("blue", "red"),
    "several without": ("blue", "green"),
}
"""The value of the field in an object; rules name `red`."""
POSITIVE = {"same", "several with"}
NEGATIVE = VALUES.keys() - POSITIVE
ABSENT = {"absent", "empty", "no texts", "empty text"}
HOLDS: Mapping[str, set[str]] = {
    "equals": POSITIVE,
    "contains": POSITIVE,
    "does_not_contain": set(NEGATIVE),
    "starts_with": POSITIVE,
    "ends_with": POSITIVE,
    "is_one_of": POSITIVE,
    "is_not_one_of": set(NEGATIVE),
}
"""Where a criterion holds in a rule that denies, and in one that allows but for strict types."""


def expected(object_type: str, field: str, operator: str, state: str, effect: str) -> bool:
    """Whether a rule with this one criterion applies."""
    if field == OBJECT_TYPE_FIELD:
        return operator in NEGATIONS  # each type is another text than `red`
    if field not in FIELDS_OF[object_type]:
        return effect == "deny"
    if effect == "allow" and object_type in STRICT_TYPES and operator in NEGATIONS:
        return state in HOLDS[operator] - ABSENT
    return state in HOLDS[operator]


def objects(field: str) -> Iterator[tuple[str, Fields]]:
    for state, value in VALUES.items():
        yield state, {} if value is None else {field: value}


def decisions(rule: Rule, object_type: str, fields: Fields) -> set[bool]:
    """Whether the rule applies: by the predicate, the explanation and the filter of searches."""
    effect = rule.effects["GET"]
    rules = [rule] if effect == "allow" else [parse_rule(everything(object_type)), rule]
    applies = {
        Predicate(rules)("GET", object_type, fields),
        explain({"role#x": rules}, "GET", object_type, fields).allowed,
    }
    if object_type == "asset":
        query, document = search_filter(rules), {k: v for k, v in fields.items() if k in OF_ASSETS}
        applies.add(query is not None and finds(query, indexed(document)))
    return {each == (effect == "allow") for each in applies}


OF_ASSETS = FIELDS_OF["asset"]


def test_the_table_names_every_operator() -> None:
    assert set(HOLDS) == set(OPERATORS)


def test_objects_that_decide_what_users_may_do_are_strict() -> None:
    assert {"role", "userRole", "apiKey", "constraint"} == STRICT_TYPES
    assert set(get_args(SecuredType)) >= STRICT_TYPES


@pytest.mark.parametrize("effect", ["allow", "deny"])
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("object_type", OBJECT_TYPES)
def test_a_criterion_matches_as_listed_in_the_table(
    object_type: str, operator: str, effect: str
) -> None:
    for field in FIELDS:
        rule = parse_rule(stored(object_type, (field, operator, "red"), effect=effect))
        for state, fields in objects(field):
            wanted = expected(object_type, field, operator, state, effect)
            assert decisions(rule, object_type, fields) == {wanted}, (field, state)


@pytest.mark.parametrize("effect", ["allow", "deny"])
@pytest.mark.parametrize("object_type", OBJECT_TYPES)
def test_the_wildcard_holds_for_absent_values_too(object_type: str, effect: str) -> None:
    for field in FIELDS:
        for operator in ("contains", "does_not_contain"):
            rule = parse_rule(stored(object_type, (field, operator, ".*"), effect=effect))
            for state, fields in objects(field):
                is_own = field in (*FIELDS_OF[object_type], OBJECT_TYPE_FIELD)
                wanted = operator == "contains" if is_own else effect == "deny"
                assert decisions(rule, object_type, fields) == {wanted}, (field, state)


@pytest.mark.parametrize("object_type", OBJECT_TYPES)
def test_several_negations_in_one_block_hold_together(object_type: str) -> None:
    (first, *_, last) = (*FIELDS_OF[object_type], OBJECT_TYPE_FIELD)
    negations = [(first, "is_not_one_of", ["red"]), (first, "does_not_contain", "gold"),
                 (last, "does_not_contain", "none")]  # fmt: skip
    rule = parse_rule(stored(object_type, *negations))
    assert decisions(rule, object_type, {first: "blue"}) == {True}
    assert decisions(rule, object_type, {first: "golden"}) == {False}
    assert decisions(rule, object_type, {}) == {object_type not in STRICT_TYPES}
    assert decisions(rule, object_type, {first: ""}) == {object_type not in STRICT_TYPES}


def test_a_help_desk_may_change_users_with_other_roles_and_no_user_without_one() -> None:
    rules = [parse_rule(stored("userRole", ("roleName", "is_not_one_of", ["admin"])))]
    for action in ACTIONS:
        allowed = Predicate(rules)
        assert allowed(action, "userRole", {"userId": "ann", "roleName": "viewer"})
        assert not allowed(action, "userRole", {"userId": "ann", "roleName": "admin"})
        assert not allowed(action, "userRole", {"userId": "ann"})
