"""Constraints, which say who may do what, and templates of them."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field, JsonValue

from vitrine.models import Operation, Wire
from vitrine.transport import Transport, parse, path_of

ROLE_NAME = "ROLE_NAME"
"""The variable of templates that says who is given their constraints."""


class Criterion(Wire):
    """A demand on one field; a list of values goes with `is_one_of` and `is_not_one_of` only."""

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


class ConstraintWritten(Operation):
    """`warnings` tells what was taken, but can hardly be meant."""

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
    """A template that ships with the product; `constraints` are sent back as they came."""

    template: TemplateHead
    variables: list[TemplateVariable] = []
    constraints: list[dict[str, JsonValue]] = []


class TemplateImported(Wire):
    success: bool = True
    message: str | None = None
    constraint_ids: list[str] = []


class _Templates(Wire):
    items: list[Template] = Field(alias="Items")


class Constraints:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, page_size: int | None = None) -> Iterator[Constraint]:
        path = path_of("auth", "constraints")
        return self._transport.pages(Constraint, path, page_size=page_size)

    def get(self, constraint_id: str) -> Constraint:
        """Raises NotFoundError where there is none."""
        return self._transport.read(Constraint, path_of("auth", "constraints", constraint_id))

    def create(self, constraint_id: str, body: Mapping[str, JsonValue]) -> ConstraintWritten:
        """As `put`, by the other verb of the contract: rights may allow one and not the other."""
        path = path_of("auth", "constraints", constraint_id)
        return self._transport.write(ConstraintWritten, "POST", path, body={**body})

    def put(self, constraint_id: str, body: Mapping[str, JsonValue]) -> ConstraintWritten:
        """Makes the constraint, or puts this in its place.

        Raises InvalidInputError where it says nothing that is known, or names an absent role.
        """
        path = path_of("auth", "constraints", constraint_id)
        return self._transport.write(ConstraintWritten, "PUT", path, body={**body})

    def delete(self, constraint_id: str) -> ConstraintWritten:
        path = path_of("auth", "constraints", constraint_id)
        return parse(ConstraintWritten, self._transport.send("DELETE", path))


class Templates:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def standard(self) -> list[Template]:
        """The templates that ship with the product."""
        return self._transport.read(_Templates, path_of("auth", "constraintsTemplates")).items

    def apply(self, template: Template, values: Mapping[str, str]) -> TemplateImported:
        """Gives a role, the value of `ROLE_NAME`, what a template says; again, to replace it."""
        body: dict[str, JsonValue] = {
            "template": template.template.wire(),
            "variables": [each.wire() for each in template.variables],
            "variableValues": {**values},
            "constraints": [*template.constraints],
        }
        path = path_of("auth", "constraintsTemplateImport")
        return self._transport.write(TemplateImported, "POST", path, body=body)
