"""Operations on constraints. Each write is one transaction, repeated after a conflict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError, RevisionConflictError
from backend.core.identity import Identity
from backend.core.ids import NewId
from backend.core.invisible import require_new_names
from backend.core.paging import Page, PageRequest, fill
from backend.core.transactions import MAX_TRANSACTION_ITEMS, Put
from backend.domains.access.errors import ConstraintNotFoundError
from backend.domains.access.models.constraints import Constraint, ConstraintBody
from backend.domains.access.models.permission_objects import PermissionObjects, permission_objects
from backend.domains.access.repository.constraints import (
    ConstraintRepository,
    change_writes,
    fits,
    position_of,
)
from backend.domains.access.repository.roles import RoleRepository
from backend.domains.access.rules.constraints import (
    Change,
    grantees,
    grantees_of,
    new_names,
    warnings_about,
)
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.spec.routes import LIST_PERMISSION_OBJECTS

# Attempts of a change that conflicts with others. Each conflict means that another change
# succeeded.
_ATTEMPTS = 50
_SECURED = Secured("constraint")
_RESERVED_ID = LIST_PERMISSION_OBJECTS.path.rpartition("/")[2]


class Written(NamedTuple):
    """`is_new` is true if the constraint was created; `warnings` are texts for people."""

    constraint: Constraint
    is_new: bool
    warnings: list[str]


@dataclass(eq=False, repr=False)
class ConstraintService:
    constraints: ConstraintRepository
    roles: RoleRepository
    authorization: Authorization
    audit: AuditService
    clock: Clock
    new_id: NewId

    def list_constraints(self, caller: Identity, page: PageRequest) -> Page[Constraint]:
        """Return all constraints, in no order."""
        require(self.authorization, caller, "GET", _SECURED)
        return fill(
            self.constraints.list_registry,
            page,
            visible=lambda _: True,
            position_of=position_of,
        )

    def list_permission_objects(self, caller: Identity) -> PermissionObjects:
        """Return the terms of constraints."""
        require(self.authorization, caller, "GET", _SECURED)
        return permission_objects()

    def get_constraint(self, caller: Identity, constraint_id: str) -> Constraint:
        """Return the constraint.

        Raises:
            ConstraintNotFoundError: it does not exist.
        """
        require(self.authorization, caller, "GET", _SECURED)
        constraint = self.constraints.get(constraint_id)
        if constraint is None:
            raise ConstraintNotFoundError(constraint_id)
        return constraint

    def create_constraint(
        self, caller: Identity, constraint_id: str, body: ConstraintBody
    ) -> Written:
        """Create the constraint, or replace it.

        Raises:
            ConstraintRevisionError: it, or its grantees' rules, are changed concurrently at every
                attempt.
            InvalidInputError: a role does not exist, or too many are affected at once.
            PolicyTooLargeError: a grantee's rules would be too large.
        """
        require(self.authorization, caller, "POST", _SECURED)
        return self._put(caller, "create_constraint", constraint_id, body)

    def update_constraint(
        self, caller: Identity, constraint_id: str, body: ConstraintBody
    ) -> Written:
        """Replace the constraint, or create it (see `create_constraint`)."""
        require(self.authorization, caller, "PUT", _SECURED)
        return self._put(caller, "update_constraint", constraint_id, body)

    @attempts(_ATTEMPTS, RevisionConflictError)
    def delete_constraint(self, caller: Identity, constraint_id: str) -> None:
        """Delete the constraint and its rules.

        Raises:
            ConstraintNotFoundError: it does not exist.
            ConstraintRevisionError: it, or its grantees' rules, are changed concurrently at every
                attempt.
            PolicyTooLargeError: the rules of its grantees do not fit one transaction.
        """
        require(self.authorization, caller, "DELETE", _SECURED)
        constraint = self.constraints.get(constraint_id)
        if constraint is None:
            raise ConstraintNotFoundError(constraint_id)
        self.write(caller, "delete_constraint", [Change(constraint, None)])

    @attempts(_ATTEMPTS, RevisionConflictError)
    def replace(
        self,
        caller: Identity,
        operation: str,
        wanted: Callable[[dict[str, Constraint]], Sequence[Constraint]],
        ids: Sequence[str],
    ) -> list[Written]:
        """Replace the constraints with these ids, all or none, without checking permissions.

        `wanted` returns the new ones for the stored ones, each time these are read.
        """
        constraints = self.constraints.get_many(ids)
        after = wanted(constraints)
        changes = [
            Change(constraints.get(constraint.constraint_id), constraint) for constraint in after
        ]
        self.write(caller, operation, changes)
        return [
            Written(
                constraint, constraint.constraint_id not in constraints, warnings_about(constraint)
            )
            for constraint in after
        ]

    def write(self, caller: Identity, operation: str, changes: Sequence[Change]) -> None:
        """Write the changes and their audit entries in one transaction."""
        for change in changes:
            require_new_names(new_names(change))
        policies = self.constraints.policies(grantees_of(changes))
        # After the rules: deleting a role from now on changes its rules, which is detected.
        names = {
            grantee.name
            for change in changes
            for grantee in grantees(change.after)
            if grantee.kind == "role"
        }
        missing = sorted(names - self.roles.existing(sorted(names)))
        if missing:
            raise InvalidInputError.of(
                "groupPermissions", f"role {', '.join(missing)} does not exist"
            )
        entries = [entry_of(self.audit, caller, operation, change) for change in changes]
        writes = change_writes(changes, policies, self.new_id(), *entries)
        if not fits(writes):
            raise InvalidInputError.of(
                "groupPermissions",
                (
                    f"the change affects {len(policies)} roles and users, before and after, "
                    f"and needs {len(writes)} writes; a transaction can have at most "
                    f"{MAX_TRANSACTION_ITEMS}: make the change in several steps"
                ),
            )
        self.constraints.write(writes)

    def _put(
        self, caller: Identity, operation: str, constraint_id: str, body: ConstraintBody
    ) -> Written:
        at, fields = iso(self.clock()), body.model_dump(exclude={"identifier"})

        def constraints_after(stored: dict[str, Constraint]) -> list[Constraint]:
            before = stored.get(constraint_id)
            if before is None and constraint_id == _RESERVED_ID:
                fact = f"{constraint_id} is reserved, because a route has this path"
                raise InvalidInputError.of("constraintId", fact)
            return [constraint_from(fields, constraint_id, before, by=caller.user_id, at=at)]

        return self.replace(caller, operation, constraints_after, [constraint_id])[0]


def entry_of(audit: AuditService, caller: Identity, operation: str, change: Change) -> Put:
    """Return the audit entry of a change."""
    return audit.entry(
        caller,
        operation,
        audit_entity("constraint", change.constraint_id),
        before=_audit_values(change.before),
        after=_audit_values(change.after),
    )


def constraint_from(
    fields: dict[str, Any], constraint_id: str, before: Constraint | None, *, by: str, at: str
) -> Constraint:
    """Return the constraint of a request; its creator is kept."""
    return Constraint(
        **fields,
        constraint_id=constraint_id,
        date_created=(before.date_created if before is not None else "") or at,
        date_modified=at,
        created_by=(before.created_by if before is not None else "") or by,
        modified_by=by,
    )


def _audit_values(constraint: Constraint | None) -> dict[str, Any] | None:
    """Return a constraint as its audit entries contain it."""
    if constraint is None:
        return None
    return constraint.model_dump(by_alias=True, exclude_none=True, exclude={"revision"})
