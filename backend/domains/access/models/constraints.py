"""Constraints as stored, and the bodies and replies of their routes.

`policy/model.py` defines their terms. A value is text, compared literally.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from backend.core.models import LegacyEnvelope, SentModel, WireModel, WrongFieldError
from backend.core.names import (
    Line,
    ObjectName,
    UserId,
    check_line,
    check_words,
)
from backend.core.quoting import quoted
from backend.domains.access.policy.model import (
    ACTIONS,
    EFFECTS,
    FIELDS,
    FIELDS_OF,
    LIST_OPERATORS,
    MAX_VALUE_CHARS,
    OBJECT_TYPE_FIELD,
    OBJECT_TYPES,
    OPERATORS,
)

# Roles and users of one constraint. Its transaction writes two items for each.
MAX_GRANTEES = 40
# Criteria of both blocks together; each is at least one of the 900 conditions of a search filter.
MAX_CRITERIA = 100
# Values of one criterion; `MAX_TEXT_BYTES` also bounds them together.
MAX_VALUES = 1000
# Size of all values of one constraint. Each of its rows, and the rules of each grantee, contain
# them.
MAX_TEXT_BYTES = 64 * 1024
# Parts of field names that reveal a misspelt field of a constraint, which would otherwise be
# ignored.
_WORDS = ("criteri", "permission")
_MAX_PERMISSIONS = MAX_GRANTEES * len(ACTIONS) * len(EFFECTS)

Operation = Literal["create", "update", "delete"]
Value = str | list[str]


def _known(words: tuple[str, ...]) -> AfterValidator:
    def check(value: str) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(words)}, not {quoted(value[:64])}")
        return value

    return AfterValidator(check)


def _enum_schema(words: tuple[str, ...]) -> Any:
    """Return the allowed words as an enum of OpenAPI."""
    return Field(json_schema_extra={"enum": [*words]})


ObjectType = Annotated[str, _known(OBJECT_TYPES), _enum_schema(OBJECT_TYPES)]
FieldName = Annotated[str, _known(FIELDS), _enum_schema(FIELDS)]
Operator = Annotated[str, _known(OPERATORS), _enum_schema(OPERATORS)]
Permission = Annotated[str, _known(ACTIONS), _enum_schema(ACTIONS)]
Effect = Annotated[str, _known(EFFECTS), _enum_schema(EFFECTS)]


def _check_value(value: object) -> Value:
    """Check a text, or a list of texts."""
    # By hand: pydantic's errors of a union would name the field twice, once for each form.
    if isinstance(value, list):
        texts = cast("list[object]", value)
        if not 1 <= len(texts) <= MAX_VALUES:
            raise ValueError(f"must have 1 to {MAX_VALUES} values, not {len(texts)}")
        return [_check_text(text) for text in texts]
    return _check_text(value)


def _check_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text or a list of texts")  # noqa: TRY004 - pydantic's way
    if not 1 <= len(value) <= MAX_VALUE_CHARS:
        raise ValueError(f"must have 1 to {MAX_VALUE_CHARS} characters, not {len(value)}")
    return check_line(value)


_NotBlank = Annotated[Line, Field(min_length=1, max_length=256), AfterValidator(check_words)]
_TEXT = {"type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARS}
_TEXTS = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MAX_VALUES}
_VALUE_SCHEMA: dict[str, Any] = {"anyOf": [_TEXT, _TEXTS]}
OneOrMoreValues = Annotated[
    Value, BeforeValidator(_check_value), Field(json_schema_extra=_VALUE_SCHEMA)
]


class Criterion(WireModel):
    """A condition on one field; `id` is chosen by the client."""

    id: Annotated[Line, Field(min_length=1, max_length=256)] | None = None
    field: FieldName
    operator: Operator
    value: OneOrMoreValues

    @model_validator(mode="after")
    def check_list_value(self) -> "Criterion":
        if isinstance(self.value, list) and self.operator not in LIST_OPERATORS:
            raise WrongFieldError("value", f"{self.operator} requires a single text, not a list")
        return self


class GroupPermission(WireModel):
    id: Annotated[Line, Field(min_length=1, max_length=256)] | None = None
    group_id: ObjectName
    permission: Permission
    permission_type: Effect


class UserPermission(WireModel):
    id: Annotated[Line, Field(min_length=1, max_length=256)] | None = None
    user_id: UserId
    permission: Permission
    permission_type: Effect


class Criteria(SentModel):
    """The criteria of a constraint: objects of one type that match all, or one, of them."""

    name: _NotBlank
    description: _NotBlank
    object_type: ObjectType
    criteria_and: Annotated[list[Criterion], Field(max_length=MAX_CRITERIA)] = []
    criteria_or: Annotated[list[Criterion], Field(max_length=MAX_CRITERIA)] = []

    @model_validator(mode="before")
    @classmethod
    def check_names_of_criteria(cls, values: object) -> object:
        """Reject a misspelt criteria list."""
        if isinstance(values, dict):
            sent = cast("dict[str, object]", values)
            known = {field.alias or name for name, field in cls.model_fields.items()}
            # Other unknown fields are ignored, but without its criteria the rule would have another
            # meaning.
            for name in sorted(sent.keys() - known - cls.model_fields.keys()):
                if sent[name] and any(word in name.casefold() for word in _WORDS):
                    raise WrongFieldError(name[:64], "is not a field that constraints can use")
        return cast("object", values)

    @model_validator(mode="after")
    def check_fields(self) -> "Criteria":
        known = (*FIELDS_OF[self.object_type], OBJECT_TYPE_FIELD)
        for block, criteria in (
            ("criteriaAnd", self.criteria_and),
            ("criteriaOr", self.criteria_or),
        ):
            for number, criterion in enumerate(criteria):
                if criterion.field not in known:
                    fields = f"{criterion.field}, only {', '.join(known)}"
                    fact = f"{self.object_type} has no field {fields}"
                    raise WrongFieldError(f"{block}.{number}.field", fact)
        return self

    @model_validator(mode="after")
    def check_criteria(self) -> "Criteria":
        criteria = [*self.criteria_and, *self.criteria_or]
        if not 1 <= len(criteria) <= MAX_CRITERIA:
            fact = f"criteriaAnd and criteriaOr must have 1 to {MAX_CRITERIA} criteria together"
            raise WrongFieldError("criteriaAnd", fact)
        size = sum(
            len(text.encode()) for criterion in criteria for text in texts_of(criterion.value)
        )
        if size > MAX_TEXT_BYTES:
            fact = f"the values have {size} bytes together; at most {MAX_TEXT_BYTES} are allowed"
            raise WrongFieldError("criteriaAnd", fact)
        ids = [criterion.id for criterion in criteria if criterion.id is not None]
        if len(set(ids)) < len(ids):
            raise WrongFieldError(
                "criteriaAnd", "criteriaAnd and criteriaOr contain the same id twice"
            )
        return self


def texts_of(value: Value) -> Iterable[str]:
    return value if isinstance(value, list) else (value,)


class ConstraintPath(WireModel):
    constraint_id: ObjectName


class ConstraintBody(Criteria):
    """A whole constraint. The id in the path is used; VAMS clients repeat it as `identifier`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Curators see the museum",
                    "description": "Show the assets of the museum",
                    "objectType": "asset",
                    "criteriaAnd": [
                        {"field": "databaseId", "operator": "equals", "value": "museum"}
                    ],
                    "groupPermissions": [
                        {"groupId": "curator", "permission": "GET", "permissionType": "allow"}
                    ],
                }
            ]
        }
    )

    identifier: Annotated[Line, Field(max_length=256)] | None = None
    group_permissions: Annotated[list[GroupPermission], Field(max_length=_MAX_PERMISSIONS)] = []
    user_permissions: Annotated[list[UserPermission], Field(max_length=_MAX_PERMISSIONS)] = []

    @model_validator(mode="after")
    def check_number_of_grantees(self) -> "ConstraintBody":
        count = len({permission.group_id for permission in self.group_permissions})
        count += len({permission.user_id for permission in self.user_permissions})
        if count > MAX_GRANTEES:
            fact = f"groupPermissions and userPermissions name {count} roles and users"
            raise WrongFieldError(
                "groupPermissions", f"{fact}; a constraint can have at most {MAX_GRANTEES}"
            )
        return self


class Constraint(WireModel):
    """A constraint as stored. `revision` changes with each write and is never reused."""

    constraint_id: str
    name: str
    description: str
    object_type: str
    criteria_and: list[Criterion]
    criteria_or: list[Criterion]
    group_permissions: list[GroupPermission]
    user_permissions: list[UserPermission]
    date_created: str = ""
    date_modified: str = ""
    created_by: str = ""
    modified_by: str = ""
    revision: str = ""


class Grantee(NamedTuple):
    """A role or a user to whom a constraint applies."""

    kind: Literal["role", "user"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class CriterionReply(WireModel):
    id: str | None = None
    field: str
    operator: str
    value: Value


class GroupPermissionReply(WireModel):
    id: str | None = None
    group_id: str
    permission: str
    permission_type: str


class UserPermissionReply(WireModel):
    id: str | None = None
    user_id: str
    permission: str
    permission_type: str


class ConstraintReply(WireModel):
    constraint_id: str
    name: str
    description: str
    object_type: str
    criteria_and: list[CriterionReply]
    criteria_or: list[CriterionReply]
    group_permissions: list[GroupPermissionReply]
    user_permissions: list[UserPermissionReply]
    date_created: str
    date_modified: str
    created_by: str
    modified_by: str
    changed_meaning: list[str] | None = None
    """The difference between the decisions of the stored constraint now and in earlier releases."""


class OneConstraintReply(ConstraintReply):
    """A constraint; `constraint` repeats it for VAMS clients."""

    constraint: ConstraintReply


class ConstraintsReply(LegacyEnvelope):
    items: Annotated[list[ConstraintReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class ConstraintOperationReply(WireModel):
    """`warnings` lists accepted settings that probably have no effect or not the intended one.

    `warning` is the one on constraints with criteria in both blocks, which `warnings` has too.
    """

    success: bool = True
    message: str
    constraint_id: str
    operation: Operation
    timestamp: str
    warnings: list[str] | None = None
    warning: str | None = None
