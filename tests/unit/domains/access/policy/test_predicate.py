"""The predicate and reduced blocks decide as the rules do, evaluated one after the other."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from backend.domains.access.policy.model import (
    ACTIONS,
    ALLOW,
    DENY,
    Block,
    Criteria,
    Criterion,
    Fields,
    Rule,
    parse_rule,
)
from backend.domains.access.policy.predicate import Predicate, blocks_for
from backend.domains.access.policy.reduction import reduced
from backend.spec.routes.model import Action
from tests.factories.policies import DRAWN, everything, objects_of, read_plainly, rules, stored

ANY_ASSET = everything("asset")


def asset(**fields: str | tuple[str, ...]) -> Fields:
    return {"databaseId": "db1", "assetName": "pump", "assetType": ".glb", "tags": ()} | fields


def allows(*found: Mapping[str, Any], of: Fields, action: Action = "GET") -> bool:
    return Predicate(parse_rule(item) for item in found)(action, "asset", of)


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


def test_a_denial_wins_at_any_position_and_a_block_decides() -> None:
    denial = stored("asset", ("tags", "equals", "secret"), effect="deny")
    for item in ([ANY_ASSET, denial], [denial, ANY_ASSET]):
        assert not allows(*item, of=asset(tags=("open", "secret")))
        assert allows(*item, of=asset(tags=("open",)))
    assert not allows(ANY_ASSET, everything("asset", effect="deny"), of=asset())
    assert not allows(of=asset())
    assert not allows(everything("database"), of=asset())
    assert not allows(everything("asset", actions=["PUT"]), of=asset())
    first, second = ("databaseId", "equals", "db1"), ("assetName", "equals", "valve")
    assert not allows(stored("asset", first, second), of=asset())
    assert allows(stored("asset", any_of=[first, second]), of=asset())
    assert not allows(ANY_ASSET, stored("asset", any_of=[first], effect="deny"), of=asset())


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


def test_wildcards_tags_and_letters_are_compared_as_written() -> None:
    assert allows(stored("asset", ("assetName", "contains", ".*")), of=asset())
    assert allows(stored("asset", ("tags", "contains", ".*")), of=asset())
    assert allows(stored("asset", ("assetName", "contains", ".*")), of={})
    assert not allows(stored("asset", ("assetName", "does_not_contain", ".*")), of=asset())
    for operator in ("equals", "starts_with", "ends_with", "is_one_of"):
        assert not allows(stored("asset", ("assetName", operator, ".*")), of=asset())
    tags = asset(tags=("red", "blue"))
    assert allows(stored("asset", ("tags", "is_one_of", ["green", "blue"])), of=tags)
    assert allows(stored("asset", ("tags", "contains", "lu")), of=tags)
    assert not allows(stored("asset", ("tags", "does_not_contain", "lu")), of=tags)
    assert not allows(stored("asset", ("tags", "is_not_one_of", ["red"])), of=tags)
    rule = stored("asset", ("assetName", "equals", "é"))
    assert not allows(rule, of=asset(assetName="e\u0301"))
    assert not allows(stored("asset", ("assetName", "equals", "PUMP")), of=asset())


@pytest.mark.parametrize("fields", [{}, {"tags": ()}], ids=["absent", "empty"])
def test_a_negation_holds_for_what_is_not_there(fields: Fields) -> None:
    assert allows(stored("asset", ("tags", "does_not_contain", "x")), of=fields)
    assert allows(stored("asset", ("tags", "is_not_one_of", ["x"])), of=fields)
    assert not allows(stored("asset", ("tags", "contains", "x")), of=fields)


def test_ten_thousand_values_and_a_hundred_criteria_are_taken() -> None:
    values = [f"asset-{number}" for number in range(10_000)]
    rule = stored("asset", ("assetName", "is_one_of", values))
    assert allows(rule, of=asset(assetName="asset-9999"))
    assert not allows(rule, of=asset(assetName="asset-10000"))
    many = [("assetName", "does_not_contain", f"x{number}") for number in range(100)]
    assert allows(stored("asset", *many), of=asset())
    assert not allows(stored("asset", *many), of=asset(assetName="an x99 b"))


_SHORT = st.text("ab", min_size=1, max_size=3)
"""Texts of which many hold others."""


def close_rules() -> st.SearchStrategy[Rule]:
    """Rules whose criteria follow from each other, meet or exclude each other."""
    fields = st.sampled_from(("databaseId", "assetName", "tags"))

    def criterion(operator: str) -> st.SearchStrategy[Criterion]:
        most = 3 if "one_of" in operator else 1
        values = st.lists(_SHORT, min_size=1, max_size=most).map(tuple)
        return st.builds(Criterion, fields, st.just(operator), values)

    words = ("equals", "contains", "does_not_contain", "starts_with", "ends_with",
             "is_one_of", "is_not_one_of")  # fmt: skip
    block = st.lists(st.sampled_from(words).flatmap(criterion), max_size=4).map(tuple)
    effects = st.sampled_from((ALLOW, ALLOW, DENY)).map(lambda effect: {"GET": effect})
    return st.builds(Rule, st.just("c"), st.just("asset"), block, block, effects)


def close_objects() -> st.SearchStrategy[Fields]:
    tags: st.SearchStrategy[Any] = st.lists(_SHORT, max_size=3).map(tuple)
    return st.fixed_dictionaries(
        {}, optional={"databaseId": _SHORT, "assetName": _SHORT, "tags": tags}
    )


def blocks(found: list[Rule]) -> tuple[list[Block], list[Block]]:
    return reduced(
        blocks_for(found, "GET", "asset", ALLOW), blocks_for(found, "GET", "asset", DENY)
    )


def as_rules(found: list[Rule]) -> list[Rule]:
    """The reduced blocks, each a rule; an empty one, which no rule says, is one on all assets."""
    always = (Criterion("object__type", "equals", ("asset",)),)
    return [
        Rule("c", "asset", block.all_of or always, block.any_of, {"GET": effect})
        for effect, some in zip((ALLOW, DENY), blocks(found), strict=True)
        for block in some
    ]


@hypothesis_settings(max_examples=DRAWN)
@given(
    st.lists(st.one_of(close_rules(), rules(["asset"])), max_size=10),
    st.lists(st.one_of(close_objects(), objects_of("asset")), min_size=4, max_size=8),
)
def test_reduced_blocks_decide_as_the_rules_do(found: list[Rule], objects: list[Fields]) -> None:
    fewer = as_rules(found)
    for fields in objects:
        expected = read_plainly(found, "GET", "asset", fields)
        assert read_plainly(fewer, "GET", "asset", fields) == expected


@hypothesis_settings(max_examples=DRAWN)
@given(st.lists(close_rules(), max_size=8), st.randoms())
def test_the_order_of_rules_makes_no_difference(found: list[Rule], chance: Any) -> None:
    before = blocks(found)
    chance.shuffle(found)
    assert blocks(found) == before


def demand(field: str, *values: str, operator: str = "is_one_of") -> Criterion:
    return Criterion(field, operator, values)


PUMPS = ("assetName", "contains", "pump")


@pytest.mark.parametrize(
    ("given_rules", "allowed", "denied"),
    [
        pytest.param(
            [stored("asset", ("databaseId", "equals", "a")),
             stored("asset", ("databaseId", "is_one_of", ["a", "b"]), PUMPS)],
            [(demand("databaseId", "a"),),
             (demand("databaseId", "a", "b"), demand("assetName", "pump", operator="contains"))],
            [],
            id="a block is kept that is within no other",
        ),
        pytest.param(
            [stored("asset", ("databaseId", "equals", "a")),
             stored("asset", ("databaseId", "equals", "a"), PUMPS)],
            [(demand("databaseId", "a"),)],
            [],
            id="a block within another one is left out",
        ),
        pytest.param(
            [everything("asset"), stored("asset", PUMPS)], [()], [], id="within everything"
        ),
        pytest.param(
            [stored("asset", ("databaseId", "equals", "b")),
             stored("asset", ("databaseId", "equals", "a")),
             stored("asset", ("databaseId", "equals", "a"), effect="deny")],
            [(demand("databaseId", "b"),)],
            [],
            id="what is denied in whole is neither allowed nor denied",
        ),
        pytest.param(
            [stored("asset", ("databaseId", "equals", "a")),
             stored("asset", ("databaseId", "is_one_of", ["a", "b"]), PUMPS, effect="deny"),
             stored("asset", ("databaseId", "equals", "c"), PUMPS, effect="deny")],
            [(demand("databaseId", "a"),)],
            [(demand("databaseId", "a"), demand("assetName", "pump", operator="contains"))],
            id="of denials is left what something allows",
        ),
        pytest.param(
            [stored("asset", ("databaseId", "equals", "a"), PUMPS),
             stored("asset", ("databaseId", "equals", "b"), PUMPS)],
            [(demand("databaseId", "a", "b"), demand("assetName", "pump", operator="contains"))],
            [],
            id="blocks that differ in one value are one",
        ),
        pytest.param(
            [stored("asset", ("assetName", "equals", "pump"), PUMPS,
                    ("assetName", "is_not_one_of", ["valve"]))],
            [(demand("assetName", "pump"),)],
            [],
            id="demands that follow from another are left out",
        ),
        pytest.param(
            [stored("asset", ("assetName", "equals", "valve"), PUMPS)], [], [], id="never"
        ),
    ],
)  # fmt: skip
def test_what_makes_no_difference_is_left_out(
    given_rules: list[dict[str, Any]], allowed: list[Criteria], denied: list[Criteria]
) -> None:
    expected = [Block(item) for item in allowed], [Block(item) for item in denied]
    assert blocks([parse_rule(rule) for rule in given_rules]) == expected


A, B, VALVES = (
    ("databaseId", "equals", "a"), ("databaseId", "equals", "b"), ("assetName", "equals", "valve"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("given_rules", "expected"),
    [
        pytest.param(
            [stored("asset", A, any_of=[PUMPS, ("tags", "equals", "x")])],
            [Block((demand("databaseId", "a"),),
                   (demand("assetName", "pump", operator="contains"), demand("tags", "x")))],
            id="alternatives on two fields are kept as such",
        ),
        pytest.param(
            [stored("asset", PUMPS, any_of=[A, B])],
            [Block((demand("databaseId", "a", "b"),
                    demand("assetName", "pump", operator="contains")))],
            id="values of one field are one criterion",
        ),
        pytest.param(
            [stored("asset", A, any_of=[B, VALVES])],
            [Block((demand("databaseId", "a"), demand("assetName", "valve")))],
            id="an alternative that cannot match beside the others is left out",
        ),
        pytest.param(
            [stored("asset", A, any_of=[A, VALVES])],
            [Block((demand("databaseId", "a"),))],
            id="an alternative that always matches makes the others needless",
        ),
        pytest.param(
            [stored("asset", A, any_of=[PUMPS, ("tags", "equals", "x")]), stored("asset", A)],
            [Block((demand("databaseId", "a"),))],
            id="a block within another one is left out with its alternatives",
        ),
        pytest.param([stored("asset", A, any_of=[B])], [], id="never"),
    ],
)  # fmt: skip
def test_alternatives_are_simplified(
    given_rules: list[dict[str, Any]], expected: list[Block]
) -> None:
    assert blocks([parse_rule(rule) for rule in given_rules]) == (expected, [])


def test_a_requirement_on_one_tag_does_not_concern_the_others() -> None:
    result = [stored("asset", ("tags", "equals", "a"), ("tags", "does_not_contain", "b"))]
    ((block,), _) = blocks([parse_rule(item) for item in result])
    assert len(block.all_of) == 2
