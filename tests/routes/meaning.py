"""The meaning of constraints by the contract and `docs/decisions/0030`, implemented naively.

Nothing of the product is imported here. Constraints are bodies of `POST /auth/constraints`. An
object has a type and fields; a field has one text or several, or none.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]
Fields = Mapping[str, str | tuple[str, ...]]

ACTIONS = ("GET", "PUT", "POST", "DELETE")
OPERATORS = (
    *("equals", "contains", "does_not_contain", "starts_with", "ends_with"),
    *("is_one_of", "is_not_one_of"),
)
POSITIVE_OF = {"does_not_contain": "contains", "is_not_one_of": "is_one_of"}
DECIDE_RIGHTS = {"role", "userRole"}
"""Types of which a rule that allows by negation says nothing where the field is absent."""


class Grantee(NamedTuple):
    """A user with those of its roles that count: without a second factor some do not."""

    user_id: str
    roles: frozenset[str]


def allowed(
    rules: Iterable[Json], who: Grantee, action: str, object_type: str, fields: Fields
) -> bool:
    """Default deny; a deny wins."""
    return effects(rules, who, action, object_type, fields) == {"allow"}


def effects(
    rules: Iterable[Json], who: Grantee, action: str, object_type: str, fields: Fields
) -> set[str]:
    """Return the effects of the rules that apply to the object: `allow`, `deny`, both, neither."""
    return {
        effect
        for rule in rules
        if rule["objectType"] == object_type
        for effect in granted(rule, who, action)
        if applies(rule, {**fields, "object__type": object_type}, effect)
    }


def granted(rule: Json, who: Grantee, action: str) -> set[str]:
    """Return the effects of one rule for a grantee and an action."""
    groups = [
        permission for permission in rule["groupPermissions"] if permission["groupId"] in who.roles
    ]
    users = [
        permission for permission in rule["userPermissions"] if permission["userId"] == who.user_id
    ]
    return {item["permissionType"] for item in (*groups, *users) if item["permission"] == action}


def applies(rule: Json, fields: Fields, effect: str) -> bool:
    """With both blocks, an allow needs all of AND and one of OR; a deny needs one of the blocks."""
    strict = effect == "allow" and fields["object__type"] in DECIDE_RIGHTS

    def holds_here(criterion: Json) -> bool:
        result = texts(fields.get(criterion["field"], ()))
        if strict and not result and criterion["operator"] in POSITIVE_OF:
            return False
        return holds(criterion["operator"], criterion["value"], result)

    every, some = rule["criteriaAnd"], rule["criteriaOr"]
    blocks = [all(map(holds_here, every))] if every else []
    blocks += [any(map(holds_here, some))] if some else []
    return any(blocks) if effect == "deny" else bool(blocks) and all(blocks)


def texts(value: str | tuple[str, ...]) -> list[str]:
    """The texts of a field. An empty one is absent."""
    return [item for item in ((value,) if isinstance(value, str) else value) if item]


def holds(operator: str, value: str | list[str], found: list[str]) -> bool:
    """A positive operator holds if one text fits; a negation if its positive does not hold."""
    if operator in POSITIVE_OF:
        return not holds(POSITIVE_OF[operator], value, found)
    if operator == "contains" and value == ".*":
        return True  # the one pattern there is: anything, or nothing at all
    values = [value] if isinstance(value, str) else value
    return any(fits(operator, item, text) for item in values for text in found)


def fits(operator: str, value: str, text: str) -> bool:
    """Values are compared literally."""
    if operator == "contains":
        return value in text
    if operator == "starts_with":
        return text[: len(value)] == value
    if operator == "ends_with":
        return text[-len(value) :] == value
    return text == value


def names_tag(rules: Iterable[Json], tag: str) -> bool:
    """Whether some rule on assets, given to anyone, says another thing of an asset with the tag."""
    return any(
        holds(item["operator"], item["value"], [tag]) != holds(item["operator"], item["value"], [])
        for rule in rules
        if rule["objectType"] == "asset" and (rule["groupPermissions"] or rule["userPermissions"])
        for item in (*rule["criteriaAnd"], *rule["criteriaOr"])
        if item["field"] == "tags"
    )


def has_own_rules(rules: Iterable[Json], user_id: str) -> bool:
    """Whether rules give something to a user directly."""
    return any(
        permission["userId"] == user_id for rule in rules for permission in rule["userPermissions"]
    )
