"""The steps of the job that takes a deleted role from the many who had it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from backend.core.clock import Clock
from backend.core.errors import RevisionConflictError
from backend.core.identity import Identity
from backend.core.wired import wired
from backend.domains.access.models.people import UserRole
from backend.domains.access.repository.roles import (
    GrantRepository,
    RoleNotFoundError,
    RoleRepository,
)
from backend.domains.access.service.roles import HOLDERS_AT_ONCE, withdrawal
from backend.domains.audit.service import AuditService


class Withdrawn(NamedTuple):
    """What a step came to, and where the next one begins; `finished` when there is none."""

    cursor: dict[str, Any]
    users: int
    finished: bool


@wired
class RoleWithdrawal:
    roles: RoleRepository
    grants: GrantRepository
    audit: AuditService
    clock: Clock

    def step(
        self, role_name: str, *, job_id: str, created_by: str, cursor: Mapping[str, Any]
    ) -> Withdrawn:
        """Take the role from those among the next thousand rows; at the end remove the role.

        A repetition finds fewer who have it still, or none; after the end, when the name may be
        another role's, it does nothing. Nobody is given a role that is being deleted, so none is
        missed.
        """
        role = self.roles.get(role_name)
        if role is None or role.deleted_by != job_id:
            return Withdrawn({}, 0, finished=True)
        page = self.grants.holders(role_name, cursor.get("after"))
        holders = list(page.items)
        for start in range(0, len(holders), HOLDERS_AT_ONCE):
            self._take(Identity(created_by), holders[start : start + HOLDERS_AT_ONCE])
        if page.after is not None:
            return Withdrawn({"after": dict(page.after)}, len(holders), finished=False)
        with suppress(RoleNotFoundError):  # another worker was faster
            self.roles.finish(role_name, job_id)
        return Withdrawn({}, len(holders), finished=True)

    def _take(self, caller: Identity, holders: list[UserRole]) -> None:
        try:
            self.grants.write(withdrawal(self.audit, self.clock, caller, holders))
        except RevisionConflictError:  # someone has taken one of them just now
            for row in holders:
                with suppress(RevisionConflictError):
                    self.grants.write(withdrawal(self.audit, self.clock, caller, [row]))
