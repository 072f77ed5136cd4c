"""Rules are parsed or rejected; operators and the filter of searches decide as rules do."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from backend.core.authorization import SecuredType
from backend.core.errors import TooLargeError
from backend.domains.access.policy.explain import explain
from backend.domains.access.policy.model import (
    ACTIONS,
    EFFECTS,
    FIELDS,
    FIELDS_OF,
    NEGATIONS,
    OBJECT_TYPE_FIELD,
    OBJECT_TYPES,
    OPERATORS,
    STRICT_TYPES,
    BadRuleError,
    Block,
    Criterion,
    Fields,
    Rule,
    parse_rule,
)
from backend.domains.access.policy.predicate import Predicate
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

OURS = {"bucket", "databasePurge"}
"""Object types that the data model lacks: to adopt what is in a bucket, and to purge a deleted
database, which DELETE does not give."""
OUR_FIELDS = {"bucketId"}


def test_types_fields_and_operators_are_those_of_the_data_model() -> None:
    types = "database asset api web tag tagType role userRole pipeline workflow metadataSchema"
    fields = (
        "databaseId assetName assetType tags tagName tagTypeName roleName userId pipelineId "
        "pipelineType pipelineExecutionType workflowId metadataSchemaName "
        "metadataSchemaEntityType object__type route__path"
    )
    assert set(OBJECT_TYPES) - OURS == set(types.split())
    assert set(FIELDS) - OUR_FIELDS == set(fields.split())
    assert set(HOLDS) == set(OPERATORS)
    assert {"role", "userRole", "apiKey", "constraint"} == STRICT_TYPES
    assert set(get_args(SecuredType)) >= STRICT_TYPES


def test_a_stored_rule_is_read_and_one_without_criteria_applies_to_nothing() -> None:
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
    return {apply == (effect == "allow") for apply in applies}


OF_ASSETS = FIELDS_OF["asset"]


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
    result = [parse_rule(stored("asset", ("assetName", operator, value)))]
    query = search_filter(result)
    assert query is not None
    names = [value, f"<{value}", f"{value}>", f"<{value}>", value[:-1], value[1:], LONG]
    ends = [STRETCH_END, STRETCH_STAND_IN, STRETCH_END * STRETCH_CHARS]
    for name in filter(None, [*names, *(f"pile{end}" for end in ends)]):
        fields = {"databaseId": "museum", "assetName": name}
        expected = read_plainly(result, "GET", "asset", fields)
        assert finds(query, indexed(fields)) == expected, name


def test_hundreds_of_values_are_one_condition() -> None:
    for value, kind in ((LONG[: STRETCH_CHARS - 1], "prefix"), (LONG, "wildcard")):
        query = search_filter([parse_rule(stored("asset", ("tags", "contains", value)))])
        assert query is not None
        assert [*query["bool"]["filter"][1]["bool"]["should"][0]] == [kind]

    def some(operator: str, count: int) -> list[Rule]:
        return [parse_rule(stored("asset", ("tags", operator, f"<{n}>"))) for n in range(count)]

    query = search_filter(some("equals", MAX_CLAUSES + 1))
    assert query is not None
    assert [[*item] for item in query["bool"]["filter"][1]["bool"]["should"]] == [["terms"]]
    assert search_filter(some("contains", MAX_CLAUSES)) is not None
    with pytest.raises(TooLargeError, match="900 search conditions"):
        search_filter(some("contains", MAX_CLAUSES + 1))


def test_a_denial_hides_what_another_rule_shows_or_all_without_stretches() -> None:
    denial = stored("asset", ("tags", "equals", "secret"), effect="deny")
    query = search_filter([parse_rule(everything("asset")), parse_rule(denial)])
    assert query is not None
    assert finds(query, indexed({"tags": ("open",)}))
    assert not finds(query, indexed({"tags": ("open", "secret")}))
    denial = stored("asset", ("assetName", "contains", "secret"), effect="deny")
    query = search_filter([parse_rule(everything("asset")), parse_rule(denial)])
    assert query is not None
    for name in ("secret", "open"):
        assert not finds(query, {RULED_FIELDS["assetName"]: [name]})
    assert finds(query, indexed({"assetName": "open"}))
    assert search_filter([parse_rule(everything("asset"))]) == EVERYTHING


def _more_than_compared() -> list[tuple[tuple[str, str, str], ...]]:
    """Criteria of more blocks within one than a block is compared with."""
    return [(("databaseId", "equals", "a"), ("tags", "contains", f"{n}.")) for n in range(300)]


def test_hundreds_of_blocks_and_alternatives_keep_their_meaning() -> None:
    database = ("databaseId", "equals", "a")
    alike = [stored("asset", *item) for item in _more_than_compared()]
    denial = stored("asset", database, effect="deny")
    result = [*alike, stored("asset", database), everything("asset", actions=["PUT"])]
    query = search_filter([parse_rule(item) for item in result])
    assert query is not None
    assert finds(query, indexed({"databaseId": "a"}))
    denied = [everything("asset"), denial]
    denied += [stored("asset", *item, effect="deny") for item in _more_than_compared()]
    query = search_filter([parse_rule(item) for item in denied])
    assert query is not None
    assert not finds(query, indexed({"databaseId": "a", "tags": ("7.",)}))
    assert not finds(query, indexed({"databaseId": "a"}))
    numbers = [
        (("assetName", "contains", f"<{n}>"), ("tags", "contains", f"[{n}]")) for n in range(50)
    ]
    rule = stored("asset", *(name for name, _ in numbers), any_of=[tag for _, tag in numbers])
    query = search_filter([parse_rule(rule)])
    assert query is not None
    (block,) = query["bool"]["filter"][1]["bool"]["should"]
    assert [len(block["bool"][part]) for part in ("filter", "should")] == [50, 50]
    names = "".join(value for (_, _, value), _ in numbers)
    assert finds(query, indexed({"assetName": names, "tags": ("[7]",)}))
    assert not finds(query, indexed({"assetName": names, "tags": ("7",)}))
    assert not finds(query, indexed({"assetName": names[:-1], "tags": ("[7]",)}))


def test_nothing_is_found_by_who_sees_nothing_or_if_it_cannot_be_judged() -> None:
    some = search_filter([parse_rule(stored("asset", ("tags", "contains", "a")))])
    for query in (EVERYTHING, some):
        assert query is not None
        document = indexed({"tags": ("a",)})
        assert finds(query, document)
        assert not finds(query, {**document, WITHHELD: [True]})
    assert search_filter([]) is None
    both = [parse_rule(everything("asset", effect=effect)) for effect in ("allow", "deny")]
    assert search_filter(both) is None
