"""Reduced blocks decide as the original ones, and are as few as possible."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from backend.domains.access.policy.model import (
    ALLOW,
    DENY,
    Block,
    Criteria,
    Criterion,
    Fields,
    Rule,
    parse_rule,
)
from backend.domains.access.policy.predicate import blocks_for
from backend.domains.access.policy.reduction import reduced
from tests.factories.policies import DRAWN, everything, objects_of, read_plainly, rules, stored

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
    expected = [Block(each) for each in allowed], [Block(each) for each in denied]
    assert blocks([parse_rule(each) for each in given_rules]) == expected


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
    assert blocks([parse_rule(each) for each in given_rules]) == (expected, [])


def test_a_requirement_on_one_tag_does_not_concern_the_others() -> None:
    found = [stored("asset", ("tags", "equals", "a"), ("tags", "does_not_contain", "b"))]
    ((block,), _) = blocks([parse_rule(each) for each in found])
    assert len(block.all_of) == 2
