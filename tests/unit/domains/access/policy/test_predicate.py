"""The predicate decides as the rules do, evaluated one after the other."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from backend.domains.access.policy.model import ACTIONS, Fields, Rule, parse_rule
from backend.domains.access.policy.predicate import Predicate
from backend.spec.routes.model import Action
from tests.factories.policies import DRAWN, everything, objects_of, read_plainly, rules, stored

ANY_ASSET = everything("asset")


def asset(**fields: str | tuple[str, ...]) -> Fields:
    return {"databaseId": "db1", "assetName": "pump", "assetType": ".glb", "tags": ()} | fields


def allows(*found: Mapping[str, Any], of: Fields, action: Action = "GET") -> bool:
    return Predicate(parse_rule(each) for each in found)(action, "asset", of)


@hypothesis_settings(max_examples=DRAWN)
@given(st.data(), st.lists(rules(), max_size=12))
def test_the_predicate_agrees_with_a_plain_reading(data: st.DataObject, found: list[Rule]) -> None:
    predicate = Predicate(found)
    for object_type in sorted({rule.object_type for rule in found} | {"asset"}):
        for fields in data.draw(st.lists(objects_of(object_type), max_size=4)):
            for action in ACTIONS:
                expected = read_plainly(found, action, object_type, fields)
                assert predicate(action, object_type, fields) == expected


@hypothesis_settings(max_examples=DRAWN)
@given(st.data(), st.lists(rules(["asset"]), min_size=5, max_size=30))
def test_many_rules_on_one_type_agree_with_a_plain_reading(
    data: st.DataObject, found: list[Rule]
) -> None:
    predicate = Predicate(found)
    for fields in data.draw(st.lists(objects_of("asset"), min_size=3, max_size=3)):
        assert predicate("GET", "asset", fields) == read_plainly(found, "GET", "asset", fields)


def test_nothing_is_allowed_without_rules() -> None:
    assert not allows(of=asset())


def test_rules_on_another_type_or_action_allow_nothing() -> None:
    assert not allows(everything("database"), of=asset())
    assert not allows(everything("asset", actions=["PUT"]), of=asset())


def test_a_denial_wins_at_any_position() -> None:
    denial = stored("asset", ("tags", "equals", "secret"), effect="deny")
    for found in ([ANY_ASSET, denial], [denial, ANY_ASSET]):
        assert not allows(*found, of=asset(tags=("open", "secret")))
        assert allows(*found, of=asset(tags=("open",)))


IN_BOTH = {
    "db1 pump": (True, True),
    "db1 valve": (True, True),
    "db1 other": (False, True),
    "db2 pump": (False, True),
    "db2 other": (False, False),
}
"""By database and name: whether a rule on db1, and on the names pump or valve, allows or denies."""


def test_of_a_rule_with_both_blocks_an_allow_needs_both_and_a_deny_one() -> None:
    names = [("assetName", "equals", "pump"), ("assetName", "equals", "valve")]
    for effect, at in (("allow", 0), ("deny", 1)):
        rule = stored("asset", ("databaseId", "equals", "db1"), any_of=names, effect=effect)
        for words, expected in IN_BOTH.items():
            database_id, name = words.split()
            of = asset(databaseId=database_id, assetName=name)
            allowed = allows(rule, *([ANY_ASSET] if effect == "deny" else []), of=of)
            assert allowed == (expected[at] == (effect == "allow")), (effect, words)


def test_of_a_rule_with_one_block_that_block_decides() -> None:
    first, second = ("databaseId", "equals", "db1"), ("assetName", "equals", "valve")
    assert not allows(stored("asset", first, second), of=asset())
    assert allows(stored("asset", any_of=[first, second]), of=asset())
    assert not allows(ANY_ASSET, stored("asset", any_of=[first], effect="deny"), of=asset())


def test_a_criterion_on_a_field_of_another_type_allows_nothing_and_denies_all() -> None:
    own = ("databaseId", "equals", "db1")
    for operator, value in (
        *(("equals", "x"), ("is_one_of", ["x"]), ("starts_with", "x"), ("ends_with", "x")),
        *(("is_not_one_of", ["x"]), ("does_not_contain", "x"), ("does_not_contain", ".*")),
        *(("contains", "x"), ("contains", ".*")),
    ):
        foreign = ("roleName", operator, value)
        assert not allows(stored("asset", foreign), of=asset()), foreign
        assert not allows(stored("asset", own, foreign), of=asset()), foreign
        assert not allows(stored("asset", own, any_of=[foreign]), of=asset()), foreign
        assert allows(stored("asset", any_of=[foreign, own]), of=asset()), foreign
        denial = stored("asset", own, foreign, effect="deny")
        assert not allows(ANY_ASSET, denial, of=asset()), foreign
        assert allows(ANY_ASSET, denial, of=asset(databaseId="db2")), foreign
        denial = stored("asset", own, any_of=[foreign], effect="deny")
        assert not allows(ANY_ASSET, denial, of=asset(databaseId="db2")), foreign


@pytest.mark.parametrize(
    ("value", "name"),
    [("proj.a", "projXa"), ("p*", "pump"), ("pum?", "pump"), ("[p]ump", "pump"), ("^p", "pump")],
)
@pytest.mark.parametrize("operator", ["equals", "contains", "starts_with", "ends_with"])
def test_values_are_no_patterns(operator: str, value: str, name: str) -> None:
    rule = stored("asset", ("assetName", operator, value))
    assert not allows(rule, of=asset(assetName=name))
    assert allows(rule, of=asset(assetName=value))


def test_just_contains_takes_dot_star_for_anything() -> None:
    assert allows(stored("asset", ("assetName", "contains", ".*")), of=asset())
    assert allows(stored("asset", ("tags", "contains", ".*")), of=asset())
    assert allows(stored("asset", ("assetName", "contains", ".*")), of={})
    assert not allows(stored("asset", ("assetName", "does_not_contain", ".*")), of=asset())
    for operator in ("equals", "starts_with", "ends_with", "is_one_of"):
        assert not allows(stored("asset", ("assetName", operator, ".*")), of=asset())


def test_a_demand_on_tags_holds_for_any_and_its_negation_for_none() -> None:
    tags = asset(tags=("red", "blue"))
    assert allows(stored("asset", ("tags", "is_one_of", ["green", "blue"])), of=tags)
    assert allows(stored("asset", ("tags", "contains", "lu")), of=tags)
    assert not allows(stored("asset", ("tags", "does_not_contain", "lu")), of=tags)
    assert not allows(stored("asset", ("tags", "is_not_one_of", ["red"])), of=tags)


@pytest.mark.parametrize("fields", [{}, {"tags": ()}], ids=["absent", "empty"])
def test_a_negation_holds_for_what_is_not_there(fields: Fields) -> None:
    assert allows(stored("asset", ("tags", "does_not_contain", "x")), of=fields)
    assert allows(stored("asset", ("tags", "is_not_one_of", ["x"])), of=fields)
    assert not allows(stored("asset", ("tags", "contains", "x")), of=fields)


def test_letters_are_compared_as_they_are_spelled() -> None:
    rule = stored("asset", ("assetName", "equals", "é"))
    assert not allows(rule, of=asset(assetName="e\u0301"))
    assert not allows(stored("asset", ("assetName", "equals", "PUMP")), of=asset())


def test_ten_thousand_values_are_taken() -> None:
    values = [f"asset-{number}" for number in range(10_000)]
    rule = stored("asset", ("assetName", "is_one_of", values))
    assert allows(rule, of=asset(assetName="asset-9999"))
    assert not allows(rule, of=asset(assetName="asset-10000"))


def test_rules_that_contradict_each_other_allow_nothing() -> None:
    assert not allows(ANY_ASSET, everything("asset", effect="deny"), of=asset())


def test_a_hundred_criteria_in_one_block_are_taken() -> None:
    many = [("assetName", "does_not_contain", f"x{number}") for number in range(100)]
    assert allows(stored("asset", *many), of=asset())
    assert not allows(stored("asset", *many), of=asset(assetName="an x99 b"))
