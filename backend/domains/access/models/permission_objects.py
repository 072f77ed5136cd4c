"""The terms of constraints, as editors of constraints offer them."""

import re

from backend.core.models import WireModel
from backend.domains.access.policy.model import (
    ACTIONS,
    EFFECTS,
    FIELDS_OF,
    OBJECT_TYPE_FIELD,
    OPERATORS,
)

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|_+")


class Term(WireModel):
    label: str
    value: str


class ObjectTypeTerm(Term):
    fields: list[Term]


class PermissionObjects(WireModel):
    object_types: list[ObjectTypeTerm]
    operators: list[Term]
    permissions: list[Term]
    permission_types: list[Term]


class PermissionObjectsReply(WireModel):
    message: PermissionObjects


def permission_objects() -> PermissionObjects:
    """Return everything that constraints accept, from the declarations that check them."""
    return PermissionObjects(
        object_types=[
            ObjectTypeTerm(
                label=_label(name),
                value=name,
                fields=[_term(field) for field in (*fields, OBJECT_TYPE_FIELD)],
            )
            for name, fields in FIELDS_OF.items()
        ],
        operators=[_term(name) for name in OPERATORS],
        permissions=[Term(label=name, value=name) for name in ACTIONS],
        permission_types=[_term(name) for name in EFFECTS],
    )


def _term(value: str) -> Term:
    return Term(label=_label(value), value=value)


def _label(value: str) -> str:
    words = " ".join(_WORD.split(value))
    return words[:1].upper() + words[1:].lower()
