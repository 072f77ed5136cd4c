"""Constraints, which allow and deny actions, and templates of them."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field, JsonValue

from vitrine.models import Operation, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of

ROLE_NAME = "ROLE_NAME"
"""The variable of templates with the role that their constraints are created for."""


class Criterion(Wire):
    """A condition on one field; lists of values only with `is_one_of` and `is_not_one_of`."""

    field: str
    operator: str
    value: str | list[str]


class GroupPermission(Wire):
    group_id: str
    permission: str
    permission_type: Literal["allow", "deny"] = "allow"


class UserPermission(Wire):
    user_id: str
    permission: str
    permission_type: Literal["allow", "deny"] = "allow"


class Constraint(Wire):
    constraint_id: str
    name: str
    description: str
    object_type: str
    criteria_and: list[Criterion] = []
    criteria_or: list[Criterion] = []
    group_permissions: list[GroupPermission] = []
    user_permissions: list[UserPermission] = []
    date_modified: str | None = None
    modified_by: str | None = None
    changed_meaning: list[str] | None = None
    """The difference between the decisions of the stored constraint now and in earlier releases."""


class ConstraintWritten(Operation):
    """`warnings` lists accepted settings that are probably unintended."""

    constraint_id: str
    warnings: list[str] = []


class TemplateHead(Wire):
    name: str
    description: str | None = None
    version: str | None = None


class TemplateVariable(Wire):
    name: str
    required: bool = True
    description: str | None = None


class Template(Wire):
    """A template that ships with the product; `constraints` are sent back unchanged."""

    template: TemplateHead
    variables: list[TemplateVariable] = []
    constraints: list[dict[str, JsonValue]] = []


class TemplateImported(Wire):
    success: bool = True
    message: str | None = None
    constraint_ids: list[str] = []
    warnings: list[str] = []


class _Templates(Wire):
    items: list[Template] = Field(alias="Items")


class Constraints(Resource):
    def list(self, *, page_size: int | None = None) -> Iterator[Constraint]:
        path = path_of("auth", "constraints")
        return self._transport.pages(Constraint, path, page_size=page_size)

    def get(self, constraint_id: str) -> Constraint:
        """Return a constraint. Raises NotFoundError if it does not exist."""
        return self._transport.read(Constraint, path_of("auth", "constraints", constraint_id))

    def create(self, constraint_id: str, body: Mapping[str, JsonValue]) -> ConstraintWritten:
        """Create or replace a constraint, as `put` but with the permission to create."""
        path = path_of("auth", "constraints", constraint_id)
        return self._transport.write(ConstraintWritten, "POST", path, body={**body})

    def put(self, constraint_id: str, body: Mapping[str, JsonValue]) -> ConstraintWritten:
        """Create the constraint, or replace it.

        Raises InvalidInputError if it is invalid, or names a role that does not exist.
        """
        path = path_of("auth", "constraints", constraint_id)
        return self._transport.write(ConstraintWritten, "PUT", path, body={**body})

    def delete(self, constraint_id: str) -> ConstraintWritten:
        path = path_of("auth", "constraints", constraint_id)
        return self._transport.write(ConstraintWritten, "DELETE", path)


class Templates(Resource):
    def standard(self) -> list[Template]:
        """Return the templates that ship with the product."""
        return self._transport.read(_Templates, path_of("auth", "constraintsTemplates")).items

    def apply(self, template: Template, values: Mapping[str, str]) -> TemplateImported:
        """Create the constraints of a template for the role `ROLE_NAME`, or replace them."""
        body: dict[str, JsonValue] = {
            "template": template.template.wire(),
            "variables": [each.wire() for each in template.variables],
            "variableValues": {**values},
            "constraints": [*template.constraints],
        }
        path = path_of("auth", "constraintsTemplateImport")
        return self._transport.write(TemplateImported, "POST", path, body=body)
