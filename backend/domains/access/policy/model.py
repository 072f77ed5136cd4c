"""The terms of rules, and rules as they are stored.

A value is text, compared literally. One exception, which templates and VAMS clients rely on: with
`contains`, the value `.*` matches everything.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from backend.core.quoting import quoted
from backend.spec.routes.model import Action

ACTIONS: tuple[Action, ...] = ("GET", "PUT", "POST", "DELETE")
ALLOW = "allow"
DENY = "deny"
EFFECTS = (ALLOW, DENY)

CONTAINS = "contains"
DOES_NOT_CONTAIN = "does_not_contain"
EQUALS = "equals"
STARTS_WITH = "starts_with"
ENDS_WITH = "ends_with"
IS_ONE_OF = "is_one_of"
IS_NOT_ONE_OF = "is_not_one_of"
OPERATORS = (
    EQUALS, CONTAINS, DOES_NOT_CONTAIN, STARTS_WITH, ENDS_WITH, IS_ONE_OF, IS_NOT_ONE_OF,
)  # fmt: skip
LIST_OPERATORS = frozenset({IS_ONE_OF, IS_NOT_ONE_OF})
"""Operators whose value may be a list; a single text is a list of one."""

NEGATIONS = frozenset({DOES_NOT_CONTAIN, IS_NOT_ONE_OF})
"""Operators that are true exactly where their positive form is false. For a list: where the
positive form is true for no element."""

IS_PRESENT = "is_present"
"""True if the field has a text. Compiling adds this operator; stored rules do not contain it."""

# Types of objects that determine permissions. A rule that allows by negation does not match objects
# without the field: a user without a role is not "anyone but administrators". A rule that denies by
# negation matches them, as for all other types.
STRICT_TYPES = frozenset({"role", "userRole", "apiKey", "constraint"})

ANYTHING = ".*"
"""The value with which `contains` matches any object, also without the field."""

OBJECT_TYPE_FIELD = "object__type"
ROUTE_PATH = "route__path"
FIELDS_OF: Mapping[str, tuple[str, ...]] = {
    "database": ("databaseId",),
    "databasePurge": ("databaseId",),
    "asset": ("databaseId", "assetName", "assetType", "tags"),
    "api": (ROUTE_PATH,),
    "web": (ROUTE_PATH,),
    "tag": ("tagName", "tagTypeName", "databaseId"),
    "tagType": ("tagTypeName", "databaseId"),
    "bucket": ("bucketId",),
    "role": ("roleName",),
    "userRole": ("roleName", "userId"),
    "pipeline": ("databaseId", "pipelineId", "pipelineType", "pipelineExecutionType"),
    "workflow": ("databaseId", "workflowId"),
    "metadataSchema": ("databaseId", "metadataSchemaName", "metadataSchemaEntityType"),
}
"""The fields of each object type, besides `object__type`.

A criterion on another field is rejected when it is written. A stored one is always false in a rule
that allows, and always true in one that denies.
"""
OBJECT_TYPES: tuple[str, ...] = tuple(FIELDS_OF)
FIELDS: tuple[str, ...] = (
    *dict.fromkeys(name for names in FIELDS_OF.values() for name in names),
    OBJECT_TYPE_FIELD,
)

# Fields with any number of texts. All others have at most one.
LIST_FIELDS = frozenset({"tags"})

# Maximum length of a value. Fields in rules are not longer, except paths of routes.
MAX_VALUE_CHARS = 1024

Fields = Mapping[str, str | tuple[str, ...]]
"""The fields of an object in rules: texts and lists of texts. Absent fields are missing."""


class Criterion(NamedTuple):
    """A condition on one field; `values` has one text, or several if the operator accepts them."""

    field: str
    operator: str
    values: tuple[str, ...]


def distinguishes(criterion: Criterion, text: str) -> bool:
    """Return whether a criterion has another result for a field with this text than without it."""
    operator, values = criterion.operator, criterion.values
    if operator in (EQUALS, IS_ONE_OF, IS_NOT_ONE_OF):
        return text in values
    if operator in (CONTAINS, DOES_NOT_CONTAIN):
        return values[0] in text and values[0] != ANYTHING
    return text.startswith(values[0]) if operator == STARTS_WITH else text.endswith(values[0])


Criteria = tuple[Criterion, ...]


class Block(NamedTuple):
    """Matches if all criteria of `all_of` do, and one of `any_of`, unless there are none."""

    all_of: Criteria
    any_of: Criteria = ()


EVERYTHING = Block(())


class Rule(NamedTuple):
    """The permissions that one constraint allows, or denies, for one role or user."""

    constraint_id: str
    object_type: str
    all_of: Criteria
    any_of: Criteria
    effects: Mapping[str, str]
    """`allow` or `deny` by action."""

    def blocks(self, effect: str) -> list[Block]:
        """Return the blocks for `allow` or `deny`. A rule applies if one of them matches."""
        if not self.all_of or not self.any_of:
            return [Block(self.all_of, self.any_of)] if self.all_of or self.any_of else []
        # VAMS 2.5 applies each block by itself, 2.6 requires both. A rule here never grants more
        # than in either version.
        if effect == DENY:
            return [Block(self.all_of), Block((), self.any_of)]
        return [Block(self.all_of, self.any_of)]


class BadRuleError(ValueError):
    """A stored constraint is invalid, so its rules cannot be applied."""


def parse_rule(stored: Mapping[str, Any]) -> Rule:
    """Parse a stored rule (`constraintId objectType criteriaAnd criteriaOr permissions`).

    Raises:
        BadRuleError: a term is unknown, or a value is missing.
    """
    name = stored.get("constraintId")
    constraint_id = name if isinstance(name, str) else "?"
    object_type = _one_of(stored.get("objectType"), OBJECT_TYPES, constraint_id)
    effects = stored.get("permissions")
    if not isinstance(effects, Mapping):
        raise BadRuleError(f"Constraint {constraint_id} has no permissions")
    return Rule(
        constraint_id,
        object_type,
        _criteria(stored.get("criteriaAnd"), constraint_id),
        _criteria(stored.get("criteriaOr"), constraint_id),
        {
            _one_of(action, ACTIONS, constraint_id): _one_of(effect, EFFECTS, constraint_id)
            for action, effect in cast("Mapping[object, object]", effects).items()
        },
    )


def _criteria(stored: object, constraint_id: str) -> Criteria:
    if stored is None:
        return ()
    if not isinstance(stored, list | tuple):
        raise BadRuleError(f"Constraint {constraint_id} is invalid: its criteria are not a list")
    return tuple(
        _criterion(criterion, constraint_id) for criterion in cast("Iterable[object]", stored)
    )


def _criterion(stored: object, constraint_id: str) -> Criterion:
    if not isinstance(stored, Mapping):
        raise BadRuleError(f"Constraint {constraint_id} is invalid: a criterion is not an object")
    fields = cast("Mapping[str, object]", stored)
    operator = _one_of(fields.get("operator"), OPERATORS, constraint_id)
    value = fields.get("value")
    values: tuple[object, ...] = (value,)
    if isinstance(value, list | tuple) and operator in LIST_OPERATORS:
        values = tuple(cast("Iterable[object]", value))
    texts = tuple(value for value in values if isinstance(value, str) and value)
    if not texts or len(texts) != len(values):
        raise BadRuleError(f"Constraint {constraint_id} is invalid: a criterion has no value")
    return Criterion(_one_of(fields.get("field"), FIELDS, constraint_id), operator, texts)


def _one_of(word: object, words: tuple[str, ...], constraint_id: str) -> str:
    if not isinstance(word, str) or word not in words:
        fact = f"{quoted(word)} is not one of {', '.join(words)}"
        raise BadRuleError(f"Constraint {constraint_id} is invalid: {fact}")
    return word
