"""Imports permission templates: all constraints of one in one transaction, or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from pydantic import ValidationError

from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import iso
from backend.core.errors import FieldError, InvalidInputError
from backend.core.field_errors import field_errors
from backend.core.identity import Identity
from backend.domains.access.models.constraints import Constraint, ConstraintBody
from backend.domains.access.models.templates import ROLE_NAME, Template, TemplateImportBody
from backend.domains.access.rules.templates import constraint_ids, filled, values_of
from backend.domains.access.service.constraints import ConstraintService, constraint_from

STANDARD = (
    "database-admin",
    "database-user",
    "database-readonly",
    "global-readonly",
    "deny-tagged-assets",
)
"""The templates that are part of the product."""
_SECURED = Secured("constraint")


class Imported(NamedTuple):
    role_name: str
    constraint_ids: list[str]
    warnings: list[str]


@dataclass(eq=False, repr=False)
class TemplateService:
    constraints: ConstraintService
    authorization: Authorization

    def list_templates(self, caller: Identity) -> Sequence[Template]:
        """Return the templates that ship with the product."""
        require(self.authorization, caller, "GET", _SECURED)
        return [standard_template(name) for name in STANDARD]

    def import_template(self, caller: Identity, body: TemplateImportBody) -> Imported:
        """Create a template's constraints, or replace those of an earlier import.

        Raises:
            ConstraintRevisionError: the role's rules are changed concurrently at every attempt.
            InvalidInputError: a variable has no value, a value is invalid, or the role does not
                exist.
            PolicyTooLargeError: the role's rules would be too large.
        """
        require(self.authorization, caller, "POST", _SECURED)
        values = values_of(body)
        ids, at = constraint_ids(body, values), iso(self.constraints.clock())
        bodies = [
            (name, _constraint_of(filled(constraint, values), number))
            for number, (name, constraint) in enumerate(zip(ids, body.constraints, strict=True))
        ]

        def constraints_after(stored: dict[str, Constraint]) -> list[Constraint]:
            return [
                constraint_from(
                    body.model_dump(exclude={"identifier"}),
                    name,
                    stored.get(name),
                    by=caller.user_id,
                    at=at,
                )
                for name, body in bodies
            ]

        written = self.constraints.replace(
            caller, "import_constraints_template", constraints_after, ids
        )
        warnings = [
            f"{result.constraint.name}: {text}" for result in written for text in result.warnings
        ]
        return Imported(values[ROLE_NAME], ids, warnings)


@cache
def standard_template(name: str) -> Template:
    """Return one of the standard templates."""
    folder = resources.files("backend.domains.access.models") / "standard_templates"
    return Template.model_validate_json((folder / f"{name}.json").read_text(encoding="utf-8"))


def _constraint_of(values: dict[str, object], number: int) -> ConstraintBody:
    """Return a constraint with the template's values, checked as any other.

    Raises:
        InvalidInputError: the message names the field of the template with an invalid value.
    """
    try:
        return ConstraintBody.model_validate(values, strict=True)
    except ValidationError as error:
        fields = tuple(
            FieldError(f"constraints.{number}.{field_error.field}".rstrip("."), field_error.message)
            for field_error in field_errors(error, values, place="")
        )
        message = "; ".join(f"{field.field}: {field.message}" for field in fields)
        raise InvalidInputError(message, fields=fields) from None
