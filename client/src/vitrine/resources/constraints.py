"""Constraints, which allow and deny actions, and templates of them."""

from collections.abc import Iterator, Mapping

from pydantic import Field, JsonValue

from vitrine.api_models import Constraint as Constraint
from vitrine.api_models import ConstraintWritten as ConstraintWritten
from vitrine.api_models import Criterion as Criterion
from vitrine.api_models import GroupPermission as GroupPermission
from vitrine.api_models import PermissionObjects as PermissionObjects
from vitrine.api_models import Template as Template
from vitrine.api_models import TemplateHead as TemplateHead
from vitrine.api_models import TemplateImported as TemplateImported
from vitrine.api_models import TemplateVariable as TemplateVariable
from vitrine.api_models import UserPermission as UserPermission
from vitrine.models import Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of

ROLE_NAME = "ROLE_NAME"
"""The variable of templates with the role that their constraints are created for."""


class _Terms(Wire):
    message: PermissionObjects


class _Templates(Wire):
    items: list[Template] = Field(alias="Items")


class Constraints(Resource):
    def list(self, *, page_size: int | None = None) -> Iterator[Constraint]:
        path = path_of("auth", "constraints")
        return self._transport.pages(Constraint, path, page_size=page_size)

    def terms(self) -> PermissionObjects:
        """Return what constraints accept: object types, fields, operators and permissions."""
        path = path_of("auth", "constraints", "permissionObjects")
        return self._transport.read(_Terms, path).message

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
        # As it was read: a default that the server did not send is not sent back.
        sent = template.wire()
        body = {name: sent.get(name, []) for name in ("template", "variables", "constraints")}
        body["variableValues"] = {**values}
        path = path_of("auth", "constraintsTemplateImport")
        return self._transport.write(TemplateImported, "POST", path, body=body)
