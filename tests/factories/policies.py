"""Random rules and objects, and a direct evaluation of the rules."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.access.policy.model import (
    ACTIONS,
    ANYTHING,
    EFFECTS,
    FIELDS_OF,
    IS_NOT_ONE_OF,
    LIST_OPERATORS,
    OPERATORS,
    STRICT_TYPES,
    Criterion,
    Fields,
    Rule,
)
from backend.spec.analysis import STRETCH_CHARS, STRETCH_END, STRETCH_STAND_IN
from backend.spec.search_indexes import (
    CUT,
    CUT_INTO,
    RULED_FIELDS,
    STRETCHES_OF,
)
from backend.spec.tables.access import POLICIES
from tests.amounts import amount

DRAWN = amount("POLICIES")
"""Number of policies per test: a few dozen constant ones in each run, or new ones if it is set."""
WORDS = (
    "a", "b", "ab", "proj.a", "projXa", "proj", "A", "*", "?", "\\", "a*b", "a?b", "a\\b", "\\*",
    ".*", "a.*", "[a]", "é", "e\u0301", "😀", "😀a", "  ", '"', "{x}", "a b", "none", ".glb", "#",
    STRETCH_END, STRETCH_STAND_IN, "ab" * (STRETCH_CHARS // 2),
)  # fmt: skip
texts = st.one_of(
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("".join),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6),
)
"""Texts that are similar to each other, and that patterns and expressions interpret."""


def criteria(fields: Iterable[str]) -> st.SearchStrategy[Criterion]:
    def of(operator: str) -> st.SearchStrategy[Criterion]:
        most = 4 if operator in LIST_OPERATORS else 1
        values = st.lists(texts, min_size=1, max_size=most, unique=True).map(tuple)
        return st.builds(Criterion, st.sampled_from(sorted(fields)), st.just(operator), values)

    return st.sampled_from(OPERATORS).flatmap(of)


def rules(object_types: Iterable[str] = tuple(FIELDS_OF)) -> st.SearchStrategy[Rule]:
    """Rules on these types; a few criteria name fields that the type lacks, as stored ones may."""

    def of(object_type: str) -> st.SearchStrategy[Rule]:
        own = [*FIELDS_OF[object_type], "object__type"]
        result = st.one_of(criteria(own), criteria(own), criteria([*own, "roleName"]))
        block = st.lists(result, max_size=3).map(tuple)
        effects = st.dictionaries(st.sampled_from(ACTIONS), st.sampled_from(EFFECTS), min_size=1)
        return st.builds(Rule, st.just("c"), st.just(object_type), block, block, effects)

    return st.sampled_from(sorted(object_types)).flatmap(of)


def objects_of(object_type: str) -> st.SearchStrategy[Fields]:
    """Fields of an object, some absent, tags a list."""

    def of(name: str) -> st.SearchStrategy[Any]:
        return st.lists(texts, max_size=3).map(tuple) if name == "tags" else texts

    return st.fixed_dictionaries({}, optional={name: of(name) for name in FIELDS_OF[object_type]})


def indexed(fields: Fields) -> dict[str, list[str]]:
    """The document of an object in OpenSearch: its texts, and the stretches of the texts."""
    result: dict[str, list[str]] = {CUT_INTO: [CUT]}
    for name, value in fields.items():
        whole = [value] if isinstance(value, str) else [*value]
        result[RULED_FIELDS[name]] = whole
        result[STRETCHES_OF[name]] = [stretch for text in whole for stretch in _stretches(text)]
    return result


def _stretches(text: str) -> Iterable[str]:
    filled = text.replace(STRETCH_END, STRETCH_STAND_IN) + STRETCH_END * STRETCH_CHARS
    return (filled[place : place + STRETCH_CHARS] for place in range(len(text)))


def finds(query: Mapping[str, Any], document: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a query of a filter finds a document, as OpenSearch evaluates it."""
    ((kind, clause),) = query.items()
    if kind == "match_all":
        return True
    if kind == "bool":
        needed = [*clause.get("filter", ()), *clause.get("must", ())]
        result = clause.get("should", ())
        assert bool(result) == (clause.get("minimum_should_match") == 1)
        return (
            all(finds(item, document) for item in needed)
            and not any(finds(item, document) for item in clause.get("must_not", ()))
            and (not result or any(finds(item, document) for item in result))
        )
    ((field, wanted),) = clause.items()
    return any(term_matches(kind, wanted, value) for value in document.get(field, ()))


def term_matches(kind: str, wanted: Any, value: Any) -> bool:
    """Return whether a query matches a value of its field, as OpenSearch compares them."""
    if kind in ("term", "terms"):
        return value in (wanted if kind == "terms" else [wanted])
    if kind == "prefix":
        return value.startswith(wanted)
    assert kind == "wildcard"
    parts = re.findall(r"\\.|.", wanted, re.DOTALL)
    signs = {"*": ".*", "?": "."}
    pattern = "".join(signs.get(part) or re.escape(part[-1]) for part in parts)
    return re.fullmatch(pattern, value, re.DOTALL) is not None


def read_plainly(rules: Iterable[Rule], action: str, object_type: str, fields: Fields) -> bool:
    """Return the decision of the rules, evaluated one after the other."""
    effects = {
        effect
        for rule in rules
        if rule.object_type == object_type
        and (effect := rule.effects.get(action)) is not None
        and _applies(rule, {**fields, "object__type": object_type}, effect)
    }
    return "allow" in effects and "deny" not in effects


def _applies(rule: Rule, fields: Fields, effect: str) -> bool:
    """As the guide defines it: an allow needs all blocks that have criteria, a deny one of them."""
    known = (*FIELDS_OF[rule.object_type], "object__type")
    strict = effect == "allow" and rule.object_type in STRICT_TYPES

    def holds(criterion: Criterion) -> bool:
        if criterion.field not in known:
            return effect == "deny"
        is_absent = not fields.get(criterion.field)
        if strict and is_absent and criterion.operator in ("does_not_contain", IS_NOT_ONE_OF):
            return False
        return _holds(criterion, fields)

    blocks = [all(map(holds, rule.all_of))] if rule.all_of else []
    blocks += [any(map(holds, rule.any_of))] if rule.any_of else []
    return bool(blocks) and (any(blocks) if effect == "deny" else all(blocks))


def _holds(criterion: Criterion, fields: Fields) -> bool:
    field, operator, values = criterion
    if operator == "does_not_contain":
        return not _holds(Criterion(field, "contains", values), fields)
    if operator == IS_NOT_ONE_OF:
        return not _holds(Criterion(field, "is_one_of", values), fields)
    if operator == "contains" and values == (ANYTHING,):
        return True
    result = fields.get(field, ())
    elements = (result,) if isinstance(result, str) else result
    return any(_matches(operator, values, element) for element in elements)


def _matches(operator: str, values: tuple[str, ...], text: str) -> bool:
    return {
        "equals": text == values[0],
        "is_one_of": text in values,
        "contains": values[0] in text,
        "starts_with": text.startswith(values[0]),
        "ends_with": text.endswith(values[0]),
    }[operator]


def stored(
    object_type: str,
    *criteria: tuple[str, str, Any],
    effect: str = "allow",
    actions: Iterable[str] = ACTIONS,
    any_of: Iterable[tuple[str, str, Any]] = (),
    constraint_id: str = "",
) -> dict[str, Any]:
    """A rule in stored form; `criteria` are field, operator, value."""

    def words(each: tuple[str, str, Any]) -> Mapping[str, Any]:
        return dict(zip(("field", "operator", "value"), each, strict=True))

    return {
        "constraintId": constraint_id or f"{effect}-{object_type}",
        "objectType": object_type,
        "criteriaAnd": [words(item) for item in criteria],
        "criteriaOr": [words(item) for item in any_of],
        "permissions": dict.fromkeys(actions, effect),
    }


def everything(object_type: str, **more: Any) -> dict[str, Any]:
    """A rule on all objects of a type."""
    return stored(object_type, ("object__type", "equals", object_type), **more)


def put_policy(tables: Tables, policy_key: str, *rules: Mapping[str, Any], epoch: int = 1) -> None:
    """Store the complete rules of `role#<name>` or `user#<id>`, and increment the epoch."""
    tables.write(
        Put(table=POLICIES, item={"policyKey": policy_key, "rules": list(rules), "revision": 1})
    )
    tables.write(Put(table=POLICIES, item={"policyKey": "epoch", "n": epoch}))
