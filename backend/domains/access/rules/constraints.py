"""The rules that a constraint gives its grantees, and their rules after a change. Pure."""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from backend.core.invisible import check_visible
from backend.domains.access.models.constraints import Constraint, Criterion, Grantee, texts_of
from backend.domains.access.policy.model import (
    ACTIONS,
    ALLOW,
    ANYTHING,
    CONTAINS,
    DENY,
    DOES_NOT_CONTAIN,
    FIELDS_OF,
    LIST_FIELDS,
    NEGATIONS,
    OBJECT_TYPE_FIELD,
    STRICT_TYPES,
)

Rules = list[dict[str, Any]]
"""All rules of a grantee in their stored form (`policy.model.parse_rule` reads one)."""

# Size of a grantee's rules. A DynamoDB item has at most 400 KB, including its key.
MAX_RULES_BYTES = 390 * 1024
# Size of all items of a change. A transaction has at most 4 MB and also writes audit entries.
MAX_CHANGE_BYTES = 3_900_000


class Change(NamedTuple):
    """A constraint before and after; None if it does not exist."""

    before: Constraint | None
    after: Constraint | None

    @property
    def constraint_id(self) -> str:
        named = self.after or self.before
        if named is None:
            raise ValueError("a change requires the state before or after it")
        return named.constraint_id


def grantees(constraint: Constraint | None) -> tuple[Grantee, ...]:
    """Return the grantees of a constraint, in a fixed order."""
    if constraint is None:
        return ()
    roles = {permission.group_id for permission in constraint.group_permissions}
    users = {permission.user_id for permission in constraint.user_permissions}
    return (
        *(Grantee("role", name) for name in sorted(roles)),
        *(Grantee("user", name) for name in sorted(users)),
    )


def grantees_of(changes: Iterable[Change]) -> tuple[Grantee, ...]:
    """Return all grantees of all constraints, before and after."""
    return tuple(
        dict.fromkeys(
            grantee
            for change in changes
            for constraint in change
            for grantee in grantees(constraint)
        )
    )


def effects(constraint: Constraint, grantee: Grantee) -> dict[str, set[str]]:
    """Return what a grantee is allowed and denied, by action."""
    tags: dict[str, set[str]] = {}
    if grantee.kind == "role":
        for group in constraint.group_permissions:
            if group.group_id == grantee.name:
                tags.setdefault(group.permission, set()).add(group.permission_type)
    else:
        for user in constraint.user_permissions:
            if user.user_id == grantee.name:
                tags.setdefault(user.permission, set()).add(user.permission_type)
    return tags


def rule_of(constraint: Constraint, grantee: Grantee) -> dict[str, Any]:
    """Return the stored rule of a constraint for one of its grantees. A deny takes precedence."""
    granted = effects(constraint, grantee)
    return {
        "constraintId": constraint.constraint_id,
        "objectType": constraint.object_type,
        "criteriaAnd": [_criterion(criterion) for criterion in constraint.criteria_and],
        "criteriaOr": [_criterion(criterion) for criterion in constraint.criteria_or],
        "permissions": {
            action: DENY if DENY in granted[action] else ALLOW
            for action in ACTIONS
            if action in granted
        },
    }


def changed_rules(rules: Rules, grantee: Grantee, changes: Sequence[Change]) -> Rules:
    """Return a grantee's complete rules after the changes, in the order of their constraints."""
    kept = {rule["constraintId"]: rule for rule in rules}
    for change in changes:
        kept.pop(change.constraint_id, None)
        if change.after is not None and grantee in grantees(change.after):
            kept[change.constraint_id] = rule_of(change.after, grantee)
    return [kept[name] for name in sorted(kept)]


def named_tags(constraint: Constraint | None) -> list[dict[str, Any]]:
    """Return the tags that a constraint uses, with its roles and users."""
    if constraint is None or not grantees(constraint):
        return []
    if not LIST_FIELDS.intersection(FIELDS_OF[constraint.object_type]):
        return []  # no object of the type has tags
    criteria = [
        {"operator": criterion.operator, "values": [*texts_of(criterion.value)]}
        for criterion in (*constraint.criteria_and, *constraint.criteria_or)
        if criterion.field in LIST_FIELDS
    ]
    return [criterion for criterion in criteria if criterion["values"] != [ANYTHING]]


def contradictions(constraint: Constraint) -> list[str]:
    """Return the actions that a constraint both allows and denies for the same grantee."""
    return [
        f"{grantee} is both allowed and denied {action}: it is denied"
        for grantee in grantees(constraint)
        for action, types in effects(constraint, grantee).items()
        if len(types) > 1
    ]


def warnings_about(constraint: Constraint) -> list[str]:
    """Return settings of a constraint that are probably unintended; they are accepted."""
    criteria = (*constraint.criteria_and, *constraint.criteria_or)
    both = both_blocks(constraint)
    return [
        *contradictions(constraint),
        *([] if both is None else [both]),
        *(warning for criterion in criteria for warning in _warnings_of(criterion)),
    ]


def both_blocks(constraint: Constraint) -> str | None:
    """Return how a constraint with criteria in both blocks decides; None if one block is empty."""
    if not (constraint.criteria_and and constraint.criteria_or):
        return None
    return (
        "criteriaAnd and criteriaOr both have criteria: an allow needs all of criteriaAnd and one "
        "of criteriaOr; a deny holds if all of criteriaAnd match, or one of criteriaOr"
    )


def changed_meaning(constraint: Constraint) -> list[str]:
    """Return how a stored constraint decides differently from releases before decision 30."""
    actions = {
        effect
        for grantee in grantees(constraint)
        for granted in effects(constraint, grantee).values()
        for effect in ([DENY] if DENY in granted else granted)
    }
    changes: list[str] = []
    if ALLOW in actions and both_blocks(constraint) is not None:
        changes.append(
            "it allows only what matches all of criteriaAnd and one of criteriaOr; before, either "
            "block allowed alone"
        )
    for criterion in (*constraint.criteria_and, *constraint.criteria_or):
        changes += _changes_of_foreign(constraint.object_type, criterion, actions)
    return changes


def _changes_of_foreign(object_type: str, criterion: Criterion, actions: set[str]) -> list[str]:
    """Return the changes of a criterion on a field that its type lacks, where the text was absent.

    Such a criterion was decided by its operator alone.
    """
    field, operator = criterion.field, criterion.operator
    if field in (*FIELDS_OF[object_type], OBJECT_TYPE_FIELD):
        return []
    is_wild = criterion.value == ANYTHING and operator in (CONTAINS, DOES_NOT_CONTAIN)
    held = (operator in NEGATIONS) != is_wild
    is_strict = operator in NEGATIONS and object_type in STRICT_TYPES
    subject = f"{object_type} has no field {field}: the criterion on it ({operator})"
    changes: list[str] = []
    if ALLOW in actions and held and not is_strict:
        changes.append(
            f"{subject} never matches where the constraint allows; before, it always did"
        )
    if DENY in actions and not held:
        changes.append(
            f"{subject} always matches where the constraint denies; before, it never did"
        )
    return changes


def _warnings_of(criterion: Criterion) -> Iterator[str]:
    """Yield that a value is displayed as another one, or written as no name is: neither matches."""
    texts = texts_of(criterion.value)
    if criterion.field == "assetName" and any(
        unicodedata.normalize("NFC", text) != text for text in texts
    ):
        yield (
            f"{criterion.field} is always in composed form (NFC), but the value of "
            f"{criterion.operator} is not: it matches nothing"
        )
    for text in texts:
        try:
            check_visible(text)
        except ValueError as error:
            yield f"a value of {criterion.field} is displayed as another text: new names {error}"
            return


def new_names(change: Change) -> dict[str, str]:
    """Return the names that a change introduces, by field."""
    before, after = change
    if after is None:
        return {}
    names = {} if before is not None else {"constraintId": after.constraint_id}
    if before is None or before.name != after.name:
        names["name"] = after.name
    known = {grant.user_id for grant in before.user_permissions} if before else set[str]()
    for number, grant in enumerate(after.user_permissions):
        if grant.user_id not in known:
            names[f"userPermissions.{number}.userId"] = grant.user_id
    return names


def without_role(constraint: Constraint, role_name: str) -> Constraint | None:
    """Return the constraint without a role; None if no grantee remains."""
    groups = [
        permission
        for permission in constraint.group_permissions
        if permission.group_id != role_name
    ]
    left = constraint.model_copy(update={"group_permissions": groups})
    return left if grantees(left) else None


def stored_bytes(value: object) -> int:
    """Return the approximate size of a stored value as DynamoDB counts it."""
    match value:
        case str():
            return len(value.encode())
        case dict():
            entries = cast("Mapping[str, object]", value)
            return 3 + sum(1 + len(k.encode()) + stored_bytes(v) for k, v in entries.items())
        case list():
            return 3 + sum(1 + stored_bytes(element) for element in cast("list[object]", value))
        case _:
            return 21  # the longest number


def as_text(parts: Sequence[Any]) -> str:
    """Return criteria and permissions as stored: JSON, as VAMS writes it."""
    return json.dumps([part.model_dump(by_alias=True, exclude_none=True) for part in parts])


def _criterion(criterion: Criterion) -> dict[str, Any]:
    return criterion.model_dump(by_alias=True, include={"field", "operator", "value"})
