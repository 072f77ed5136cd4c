"""The filter of a search, evaluated as OpenSearch does, decides as the rules do."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from backend.core.errors import TooLargeError
from backend.domains.access.policy.model import Fields, Rule, parse_rule
from backend.domains.access.policy.search_filter import EVERYTHING, MAX_CLAUSES, search_filter
from backend.spec.analysis import STRETCH_CHARS, STRETCH_END, STRETCH_STAND_IN
from backend.spec.search_indexes import (
    RULED_FIELDS,
    WITHHELD,
)
from tests.factories.policies import (
    DRAWN,
    everything,
    finds,
    indexed,
    objects_of,
    read_plainly,
    rules,
    stored,
)


@hypothesis_settings(max_examples=DRAWN)
@given(
    st.lists(rules(["asset"]), min_size=1, max_size=20),
    st.lists(objects_of("asset"), min_size=3, max_size=6),
)
def test_the_filter_agrees_with_a_plain_reading(found: list[Rule], objects: list[Fields]) -> None:
    query = search_filter(found)
    for fields in objects:
        expected = read_plainly(found, "GET", "asset", fields)
        assert (query is not None and finds(query, indexed(fields))) == expected


LONG = "".join(chr(ord("a") + n) for n in range(STRETCH_CHARS + 1))


@pytest.mark.parametrize("operator", ["contains", "ends_with", "starts_with", "equals"])
@pytest.mark.parametrize(
    "value",
    [
        *(
            "pump",
            LONG[: STRETCH_CHARS - 1],
            LONG[:STRETCH_CHARS],
            LONG,
            "x" + LONG[1:],
            "*" + LONG,
            "a\\*?" + LONG,
        ),
        *("e", STRETCH_END, "e" + STRETCH_END, STRETCH_STAND_IN, "e" + STRETCH_STAND_IN, "\n"),
    ],
)
def test_a_part_of_a_text_is_found_where_it_is_however_long(operator: str, value: str) -> None:
    found = [parse_rule(stored("asset", ("assetName", operator, value)))]
    query = search_filter(found)
    assert query is not None
    names = [value, f"<{value}", f"{value}>", f"<{value}>", value[:-1], value[1:], LONG]
    ends = [STRETCH_END, STRETCH_STAND_IN, STRETCH_END * STRETCH_CHARS]
    for name in filter(None, [*names, *(f"pile{end}" for end in ends)]):
        fields = {"databaseId": "museum", "assetName": name}
        expected = read_plainly(found, "GET", "asset", fields)
        assert finds(query, indexed(fields)) == expected, name


def test_no_pattern_is_made_of_a_value_that_fits_into_a_stretch() -> None:
    for value, kind in ((LONG[: STRETCH_CHARS - 1], "prefix"), (LONG, "wildcard")):
        query = search_filter([parse_rule(stored("asset", ("tags", "contains", value)))])
        assert query is not None
        assert [*query["bool"]["filter"][1]["bool"]["should"][0]] == [kind]


def test_an_index_without_stretches_hides_all_rather_than_miss_a_denial() -> None:
    denial = stored("asset", ("assetName", "contains", "secret"), effect="deny")
    query = search_filter([parse_rule(everything("asset")), parse_rule(denial)])
    assert query is not None
    for name in ("secret", "open"):
        assert not finds(query, {RULED_FIELDS["assetName"]: [name]})
    assert finds(query, indexed({"assetName": "open"}))
    assert search_filter([parse_rule(everything("asset"))]) == EVERYTHING


def test_a_denial_hides_what_another_rule_shows() -> None:
    denial = stored("asset", ("tags", "equals", "secret"), effect="deny")
    query = search_filter([parse_rule(everything("asset")), parse_rule(denial)])
    assert query is not None
    assert finds(query, indexed({"tags": ("open",)}))
    assert not finds(query, indexed({"tags": ("open", "secret")}))


def _more_than_compared() -> list[tuple[tuple[str, str, str], ...]]:
    """Criteria of more blocks within one than a block is compared with."""
    return [(("databaseId", "equals", "a"), ("tags", "contains", f"{n}.")) for n in range(300)]


def test_hundreds_of_blocks_that_resemble_each_other_keep_the_widest() -> None:
    database = ("databaseId", "equals", "a")
    alike = [stored("asset", *each) for each in _more_than_compared()]
    denial = stored("asset", database, effect="deny")
    found = [*alike, stored("asset", database), everything("asset", actions=["PUT"])]
    query = search_filter([parse_rule(each) for each in found])
    assert query is not None
    assert finds(query, indexed({"databaseId": "a"}))
    denied = [everything("asset"), denial]
    denied += [stored("asset", *each, effect="deny") for each in _more_than_compared()]
    query = search_filter([parse_rule(each) for each in denied])
    assert query is not None
    assert not finds(query, indexed({"databaseId": "a", "tags": ("7.",)}))
    assert not finds(query, indexed({"databaseId": "a"}))


def test_what_cannot_be_judged_is_found_by_no_one() -> None:
    some = search_filter([parse_rule(stored("asset", ("tags", "contains", "a")))])
    for query in (EVERYTHING, some):
        assert query is not None
        document = indexed({"tags": ("a",)})
        assert finds(query, document)
        assert not finds(query, {**document, WITHHELD: [True]})


def test_who_sees_nothing_has_no_filter() -> None:
    assert search_filter([]) is None
    both = [parse_rule(everything("asset", effect=effect)) for effect in ("allow", "deny")]
    assert search_filter(both) is None


def test_hundreds_of_values_of_one_field_are_one_condition_and_conditions_are_limited() -> None:
    def some(operator: str, count: int) -> list[Rule]:
        return [parse_rule(stored("asset", ("tags", operator, f"<{n}>"))) for n in range(count)]

    query = search_filter(some("equals", MAX_CLAUSES + 1))
    assert query is not None
    assert [[*each] for each in query["bool"]["filter"][1]["bool"]["should"]] == [["terms"]]
    assert search_filter(some("contains", MAX_CLAUSES)) is not None
    with pytest.raises(TooLargeError, match="900 search conditions"):
        search_filter(some("contains", MAX_CLAUSES + 1))


def test_alternatives_beside_criteria_are_added_to_the_conditions_not_multiplied() -> None:
    each = [
        (("assetName", "contains", f"<{n}>"), ("tags", "contains", f"[{n}]")) for n in range(50)
    ]
    rule = stored("asset", *(name for name, _ in each), any_of=[tag for _, tag in each])
    query = search_filter([parse_rule(rule)])
    assert query is not None
    (block,) = query["bool"]["filter"][1]["bool"]["should"]
    assert [len(block["bool"][part]) for part in ("filter", "should")] == [50, 50]
    names = "".join(value for (_, _, value), _ in each)
    assert finds(query, indexed({"assetName": names, "tags": ("[7]",)}))
    assert not finds(query, indexed({"assetName": names, "tags": ("7",)}))
    assert not finds(query, indexed({"assetName": names[:-1], "tags": ("[7]",)}))
