"""Operations on roles, and the removal of a deleted role from its users."""

from dataclasses import dataclass
from typing import Any, Protocol

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import RevisionConflictError
from backend.core.identity import Identity
from backend.core.ids import NewId
from backend.core.invisible import require_new_names
from backend.core.paging import Page, PageRequest, Position, fill
from backend.core.transactions import Write
from backend.domains.access.errors import (
    AdministratorRoleError,
    RoleNotFoundError,
    RoleRevisionError,
)
from backend.domains.access.models.constraints import Grantee
from backend.domains.access.models.roles import RoleBody, UpdateRoleBody
from backend.domains.access.models.stored_roles import ADMIN_ROLE, Role, UserRole
from backend.domains.access.repository.constraints import (
    ConstraintRepository,
    Policy,
    change_writes,
    fits,
    rules_write,
)
from backend.domains.access.repository.epoch import next_epoch
from backend.domains.access.repository.policies import without_default_role
from backend.domains.access.repository.roles import GrantRepository, RoleRepository, remove_writes
from backend.domains.access.rules.constraints import Change, grantees_of, without_role
from backend.domains.access.service.constraints import entry_of
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService

# Maximum number of users of a role that one transaction deletes; with more a job does. Each user
# takes three writes, and the role two.
HOLDERS_AT_ONCE = 30
# Constraints of such a role, from which the same transaction removes it (decision 30). A job also
# deletes the role if their rows are many.
CONSTRAINTS_AT_ONCE = 20
# 5,000 rows of all roles; beyond them a job searches its users (decision 24).
_PAGES_AT_ONCE = 5
_ATTEMPTS = 8  # of a deletion that conflicts with changes of the role, or of its users


class Withdrawals(Protocol):
    """Starts the job that removes a deleted role from all users, by the returned write."""

    def __call__(self, caller: Identity, role_name: str, /) -> tuple[str, Write]: ...


def _role_changed(_: object, __: Identity, role_name: str) -> RoleRevisionError:
    return RoleRevisionError(role_name)


@dataclass(eq=False, repr=False)
class RoleService:
    roles: RoleRepository
    grants: GrantRepository
    constraints: ConstraintRepository
    names: DeletedNames
    authorization: Authorization
    audit: AuditService
    withdrawals: Withdrawals
    clock: Clock
    new_id: NewId

    def list_roles(self, caller: Identity, page: PageRequest) -> Page[Role]:
        """List the roles that the caller may see, in no order."""
        return fill(
            self.roles.list_registry,
            page,
            visible=lambda role: (
                role.deleted_by is None
                and self.authorization.may(caller, "GET", _secured_role(role))
            ),
            position_of=lambda role: {"roleName": role.role_name},
        )

    def create_role(self, caller: Identity, body: RoleBody) -> Role:
        """Create a role.

        Raises:
            AdministratorRoleError: the change would lock administrators out.
            PermissionDeniedError: the caller may not create it, or rules use a deleted role of the
                name and the caller is not an administrator.
            RoleExistsError: the name is in use.
        """
        now = self.clock()
        values = body.model_dump(exclude_none=True)
        role = Role(**values, created_on=iso(now), revision=1)
        require(self.authorization, caller, "POST", _secured_role(role))
        require_new_names({"roleName": role.role_name})
        self.names.require_unruled(caller, "roleName", role.role_name)
        _check_open(role)
        name = audit_entity("role", role.role_name)
        entry = self.audit.entry(caller, "create_role", name, after=_audit_values(role), at=now)
        self.roles.put_new(role, entry, next_epoch())
        return role

    def update_role(self, caller: Identity, body: UpdateRoleBody) -> Role:
        """Change the fields of the body.

        Raises:
            AdministratorRoleError: the change would lock administrators out.
            RoleNotFoundError: it does not exist, or the caller may not see it.
            RoleRevisionError: it was changed at the same time.
        """
        role = self._role(caller, body.role_name)
        values = body.model_dump(exclude_unset=True)
        if body.mfa_required is None:  # as omitted
            values.pop("mfa_required", None)
        changed = role.model_copy(update=values)
        require(self.authorization, caller, "PUT", _secured_role(role))
        _check_open(changed)
        before, after = _audit_values(role), _audit_values(changed)
        changes = {
            name: after.get(name)
            for name in {**before, **after}
            if before.get(name) != after.get(name)
        }
        if changes:
            name = audit_entity("role", role.role_name)
            entry = self.audit.entry(caller, "update_role", name, before=before, after=after)
            self.roles.change(role, changes, entry, next_epoch())
        return changed

    @attempts(
        _ATTEMPTS,
        RevisionConflictError,
        refusal=_role_changed,
    )
    def delete_role(self, caller: Identity, role_name: str) -> str | None:
        """Delete a role with its rules, and remove it from all users.

        Return the job, if there is one.

        Raises:
            AdministratorRoleError: it is the role of administrators.
            RoleNotFoundError: it does not exist, or the caller may not see it.
            RoleRevisionError: it is changed or assigned concurrently at every attempt.
        """
        role = self._role(caller, role_name)
        require(self.authorization, caller, "DELETE", _secured_role(role))
        if role_name == ADMIN_ROLE:
            raise AdministratorRoleError("cannot be deleted")
        return self._delete(caller, role)

    def _delete(self, caller: Identity, role: Role) -> str | None:
        grantee = Grantee("role", role.role_name)
        policy = self.constraints.policies([grantee])[grantee]
        # The users with the role; None if they are too many, or take too long to find.
        user_roles: list[UserRole] = []
        after: Position | None = None
        for _ in range(_PAGES_AT_ONCE):
            page = self.grants.holders(role.role_name, after)
            user_roles.extend(page.items)
            after = page.after
            if len(user_roles) > HOLDERS_AT_ONCE or after is None:
                break
        holders = None if after is not None or len(user_roles) > HOLDERS_AT_ONCE else user_roles
        entry = self.audit.entry(
            caller, "delete_role", audit_entity("role", role.role_name), before=_audit_values(role)
        )
        name = self.names.deleted("roleName", role.role_name)
        leaving = None if holders is None else self._withdrawal_writes(caller, policy)
        if holders is not None and leaving is not None:
            withdrawn = withdrawal_writes(self.audit, caller, holders)
            if fits([entry, name, *leaving, *withdrawn, entry]):  # and the role
                self.roles.delete(role, entry, name, *leaving, *withdrawn)
                return None
        job_id, start = self.withdrawals(caller, role.role_name)
        left = [rule["constraintId"] for rule in policy.rules]
        gone = [rules_write(policy, [], left), next_epoch()]
        self.roles.change(role, {"deletedBy": job_id}, start, entry, name, *gone)
        return job_id

    def _withdrawal_writes(self, caller: Identity, policy: Policy) -> list[Write] | None:
        """Return the writes that remove a role from its constraints, with its rules.

        None if too many.
        """
        if len(policy.rules) > CONSTRAINTS_AT_ONCE:
            return None
        name = policy.grantee.name
        constraints = self.constraints.get_many(rule["constraintId"] for rule in policy.rules)
        changes = [
            Change(constraint, without_role(constraint, name))
            for constraint in constraints.values()
        ]
        others = [grantee for grantee in grantees_of(changes) if grantee != policy.grantee]
        policies = {**self.constraints.policies(others), policy.grantee: policy}
        entries = [entry_of(self.audit, caller, "delete_role", change) for change in changes]
        return change_writes(changes, policies, self.new_id(), *entries, emptied=policy.grantee)

    def _role(self, caller: Identity, role_name: str) -> Role:
        role = self.roles.get(role_name)
        hidden = role is None or role.deleted_by is not None
        if role is None or hidden or not self.authorization.may(caller, "GET", _secured_role(role)):
            raise RoleNotFoundError(role_name)
        return role


def withdrawal_writes(
    audit: AuditService, caller: Identity, holders: list[UserRole]
) -> list[Write]:
    """Return the writes that remove a deleted role from users, each with its audit entry."""
    entries = [
        audit.entry(
            caller,
            "delete_role",
            audit_entity("userRole", row.user_id),
            before={"roleName": [row.role_name]},
            after={"roleName": []},
        )
        for row in holders
    ]
    left = {row.user_id: without_default_role(row.user_id) for row in holders}
    return [*remove_writes(holders), *left.values(), *entries]


def _check_open(role: Role) -> None:
    if role.role_name == ADMIN_ROLE and role.mfa_required:
        raise AdministratorRoleError("cannot require MFA, because API keys cannot provide it")


def _audit_values(role: Role) -> dict[str, Any]:
    """Return a role as its audit entries contain it."""
    hidden = {"revision", "grants", "deleted_by"}
    return role.model_dump(by_alias=True, exclude_none=True, exclude=hidden)


def _secured_role(role: Role) -> Secured:
    return Secured("role", {"roleName": role.role_name})
