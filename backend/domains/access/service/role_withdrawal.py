"""The steps of the job that removes a deleted role from many users."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.core.errors import RevisionConflictError
from backend.core.identity import Identity
from backend.core.ids import NewId
from backend.core.transactions import Write
from backend.domains.access.errors import RoleNotFoundError
from backend.domains.access.models.constraints import Grantee
from backend.domains.access.models.stored_roles import UserRole
from backend.domains.access.repository.constraints import (
    ConstraintRepository,
    Policy,
    change_writes,
    rules_write,
)
from backend.domains.access.repository.epoch import next_epoch
from backend.domains.access.repository.roles import GrantRepository, RoleRepository
from backend.domains.access.rules.constraints import Change, grantees_of, without_role
from backend.domains.access.service.constraints import entry_of
from backend.domains.access.service.roles import (
    CONSTRAINTS_AT_ONCE,
    HOLDERS_AT_ONCE,
    withdrawal_writes,
)
from backend.domains.audit.service.commands import AuditService


class Withdrawn(NamedTuple):
    """The result of a step, and where the next one begins; `finished` if there is none."""

    cursor: dict[str, Any]
    users: int
    finished: bool


@dataclass(eq=False, repr=False)
class RoleWithdrawal:
    roles: RoleRepository
    grants: GrantRepository
    constraints: ConstraintRepository
    audit: AuditService
    new_id: NewId

    def step(
        self, role_name: str, *, job_id: str, created_by: str, cursor: Mapping[str, Any]
    ) -> Withdrawn:
        """Remove the role from constraints, then from users, and finally delete it.

        A step handles some constraints, or those users with the role who are among the next
        thousand rows. A repeated step finds fewer of them, or none; after the end, when another
        role may have the name, it has no effect.
        """
        role = self.roles.get(role_name)
        if role is None or role.deleted_by != job_id:
            return Withdrawn({}, 0, finished=True)
        if self._leave_constraints(Identity(created_by), role_name):
            return Withdrawn(dict(cursor), 0, finished=False)
        # A role that is being deleted cannot be assigned, so no user is missed.
        page = self.grants.holders(role_name, cursor.get("after"))
        holders = list(page.items)
        for start in range(0, len(holders), HOLDERS_AT_ONCE):
            self._remove(Identity(created_by), holders[start : start + HOLDERS_AT_ONCE])
        if page.after is not None:
            return Withdrawn({"after": dict(page.after)}, len(holders), finished=False)
        with suppress(RoleNotFoundError):  # another worker has completed this step
            self.roles.finish(role_name, job_id)
        return Withdrawn({}, len(holders), finished=True)

    def _leave_constraints(self, caller: Identity, role_name: str) -> bool:
        """Remove the role from some constraints; return whether others are left."""
        grantee = Grantee("role", role_name)
        for _ in range(CONSTRAINTS_AT_ONCE):
            policy = self.constraints.policies([grantee])[grantee]
            if not policy.withdrawn:
                return False
            with suppress(RevisionConflictError):  # it is being changed: try again
                self.constraints.write(self._withdrawal_writes(caller, policy))
        return True

    def _withdrawal_writes(self, caller: Identity, policy: Policy) -> list[Write]:
        """Return the writes that remove the role from the next constraint."""
        first, *rest = policy.withdrawn
        constraint = self.constraints.get(first)
        marked = rules_write(policy, [], rest)
        if constraint is None:
            return [marked]
        changes = [Change(constraint, without_role(constraint, policy.grantee.name))]
        policies = {**self.constraints.policies(grantees_of(changes)), policy.grantee: policy}
        entry = entry_of(self.audit, caller, "delete_role", changes[0])
        return change_writes(changes, policies, self.new_id(), entry, marked)

    def _remove(self, caller: Identity, holders: list[UserRole]) -> None:
        try:
            self._write(caller, holders)
        except RevisionConflictError:  # one of them was just removed
            for row in holders:
                with suppress(RevisionConflictError):
                    self._write(caller, [row])

    def _write(self, caller: Identity, holders: list[UserRole]) -> None:
        withdrawn = withdrawal_writes(self.audit, caller, holders)
        self.grants.write([*withdrawn, next_epoch()])
