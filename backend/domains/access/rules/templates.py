"""Fills the variables of a template. Pure.

Values are inserted once, unchanged: a value is always text, even if it looks like a variable or,
with `contains` and its negation, like the wildcard, which only the template itself may use.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from backend.core.errors import FieldError, InvalidInputError
from backend.core.ids import stable_uuid
from backend.domains.access.models.constraints import Criteria, Criterion, Value, texts_of
from backend.domains.access.models.templates import (
    ROLE_NAME,
    TemplateConstraint,
    TemplateImportBody,
)
from backend.domains.access.policy.model import ANYTHING, CONTAINS, DOES_NOT_CONTAIN

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


def values_of(body: TemplateImportBody) -> dict[str, str]:
    """Return the value of each variable that the template uses.

    Raises:
        InvalidInputError: a used or required variable has no value.
    """
    values = dict(body.variable_values)
    for variable in body.variables:
        if variable.default is not None:
            values.setdefault(variable.name, variable.default)
    demanded = {variable.name for variable in body.variables if variable.required}
    used = {
        name
        for constraint in body.constraints
        for text in _texts(constraint)
        for name in (match[1] for match in _VARIABLE.finditer(text))
    }
    missing = sorted((demanded | used) - set(values))
    if missing:
        raise InvalidInputError(
            f"variableValues: no value for {', '.join(missing)}",
            fields=tuple(FieldError(f"variableValues.{name}", "is missing") for name in missing),
        )
    return {name: values[name] for name in sorted(used | {ROLE_NAME})}


def filled(constraint: TemplateConstraint, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the constraint with values inserted, in the form of a request.

    Raises:
        InvalidInputError: a value would be the wildcard.
    """
    role = values[ROLE_NAME]
    return {
        "name": _insert_values(constraint.name, values),
        "description": _insert_values(constraint.description, values),
        "objectType": constraint.object_type,
        "criteriaAnd": [_criterion(criterion, values) for criterion in constraint.criteria_and],
        "criteriaOr": [_criterion(criterion, values) for criterion in constraint.criteria_or],
        "groupPermissions": [
            {"groupId": role, "permission": permission.action, "permissionType": permission.type}
            for permission in constraint.group_permissions
        ],
    }


def constraint_ids(body: TemplateImportBody, values: Mapping[str, str]) -> list[str]:
    """Return the ids of a template's constraints, which are the same for the same values.

    So importing a template again replaces its constraints. A constraint is identified by its name
    in the template, and by its number among those of the same name.
    """
    template = body.template.name if body.template is not None else ""
    seen: dict[str, int] = {}
    ids: list[str] = []
    for constraint in body.constraints:
        seen[constraint.name] = seen.get(constraint.name, 0) + 1
        what = [template, dict(values), constraint.name, seen[constraint.name]]
        ids.append(stable_uuid("constraint of a template:" + json.dumps(what, sort_keys=True)))
    return ids


def _criterion(criterion: Criterion, values: Mapping[str, str]) -> dict[str, Any]:
    value = _value(criterion.value, values)
    takes_wildcard = criterion.operator in (CONTAINS, DOES_NOT_CONTAIN)
    if takes_wildcard and value == ANYTHING != criterion.value:
        raise InvalidInputError.of(
            "variableValues",
            f"must not be {ANYTHING}, which would match everything; only a template may use it",
        )
    dumped = criterion.model_dump(by_alias=True, exclude_none=True)
    return {**dumped, "value": value}


def _value(value: Value, values: Mapping[str, str]) -> Value:
    if isinstance(value, list):
        return [_insert_values(element, values) for element in value]
    return _insert_values(value, values)


def _insert_values(text: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def _texts(criteria: Criteria) -> Iterable[str]:
    yield criteria.name
    yield criteria.description
    for criterion in (*criteria.criteria_and, *criteria.criteria_or):
        yield from texts_of(criterion.value)
