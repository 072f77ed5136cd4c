"""Assigns roles to users and removes them; the last administrator keeps the role."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.attempts import attempts
from backend.core.authorization import (
    Action,
    Authorization,
    Secured,
    require,
    require_administrator,
)
from backend.core.clock import Clock, iso
from backend.core.errors import (
    AlreadyExistsError,
    InvalidInputError,
    RevisionConflictError,
)
from backend.core.identity import Identity
from backend.core.invisible import require_new_names
from backend.core.paging import MAX_ROWS_PER_PAGE, Page, PageRequest, Position
from backend.core.transactions import Write
from backend.domains.access.errors import (
    LastAdministratorError,
    UserRoleExistsError,
    UserRolesChangedError,
    UserRolesNotFoundError,
)
from backend.domains.access.models.roles import MAX_ROLES, UserRolesBody
from backend.domains.access.models.stored_roles import ADMIN_ROLE, UserRole
from backend.domains.access.repository.epoch import next_epoch
from backend.domains.access.repository.policies import PolicyRepository, without_default_role
from backend.domains.access.repository.roles import (
    GrantRepository,
    assign_writes,
    remove_writes,
    require_assigned,
)
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService

_ATTEMPTS = 8  # of a change that conflicts with others of the same user


class RolesOfUser(NamedTuple):
    user_id: str
    rows: list[UserRole]


def _roles_changed(_: object, __: Identity, body: UserRolesBody) -> UserRolesChangedError:
    return UserRolesChangedError(body.user_id)


@dataclass(eq=False, repr=False)
class UserAdministration:
    """Decides who may change a user's roles, sign-in, e-mail address or password.

    Setting the address or password of a user means taking over the user. So every change requires
    the permission on each role that the user has or gets, with which the caller could also assign
    it.
    """

    policies: PolicyRepository
    authorization: Authorization

    def require(self, caller: Identity, action: Action, user_id: str, roles: Iterable[str]) -> None:
        """Require that the caller may change a user who has, or gets, these roles.

        Raises:
            PermissionDeniedError: the caller lacks the permission on one of the roles (on the user,
                if there is none), or the user has rules of its own and the caller is not an
                administrator.
        """
        for target in secured_user(user_id, roles):
            require(self.authorization, caller, action, target)
        # A permission on roles does not cover rules for the user itself.
        if self.policies.has_direct_rules(user_id):
            why = (
                f"{user_id} has constraints of their own: only administrators can change this user"
            )
            require_administrator(self.authorization, caller, why)


@dataclass(eq=False, repr=False)
class UserRoleService:
    grants: GrantRepository
    administration: UserAdministration
    authorization: Authorization
    audit: AuditService
    clock: Clock

    def list_user_roles(self, caller: Identity, page: PageRequest) -> Page[RolesOfUser]:
        """List users with those of their roles that the caller may see, in no order.

        None is split.
        """
        rows_of: dict[str, list[UserRole]] = {}
        after, rows = page.after, 0
        last: UserRole | None = None
        while True:
            part = self.grants.list_registry(PageRequest(page.limit, after))
            rows += len(part.items)
            for row in part.items:
                is_new = last is None or row.user_id != last.user_id
                if is_new and (len(rows_of) >= page.limit or rows > MAX_ROWS_PER_PAGE):
                    return Page(_by_user(rows_of), None if last is None else _position(last))
                if self._may(caller, "GET", row):
                    rows_of.setdefault(row.user_id, []).append(row)
                last = row
            after = part.after
            if after is None:
                if last is None or len(rows_of) < page.limit:
                    return Page(_by_user(rows_of))
                return Page(_by_user(rows_of), _position(last))

    @attempts(_ATTEMPTS, RevisionConflictError)
    def add_user_roles(self, caller: Identity, body: UserRolesBody) -> None:
        """Add roles to a user.

        Raises:
            InvalidInputError: a role does not exist, or the user would have too many.
            PermissionDeniedError: the caller may not change the user, or not assign one of them.
            UserRoleExistsError: the user has one of them already.
        """
        has = self.grants.of_user(body.user_id)
        names = {row.role_name for row in has}
        everything = names.union(body.role_name)
        self.administration.require(caller, "POST", body.user_id, everything)
        for name in body.role_name:
            if name in names:
                raise UserRoleExistsError(body.user_id, name)
        if len(names) + len(body.role_name) > MAX_ROLES:
            raise InvalidInputError.of("roleName", f"a user can have at most {MAX_ROLES} roles")
        self._write(caller, "add_user_roles", has, user_id=body.user_id, to=body.role_name)

    @attempts(
        _ATTEMPTS,
        RevisionConflictError,
        AlreadyExistsError,
        refusal=_roles_changed,
    )
    def set_user_roles(self, caller: Identity, body: UserRolesBody) -> None:
        """Replace the roles of a user.

        Raises:
            InvalidInputError: a role does not exist.
            LastAdministratorError: the user is the last administrator.
            PermissionDeniedError: the caller may not change the user, or not assign or remove one
                of them.
        """
        has = self.grants.of_user(body.user_id)
        names = {row.role_name for row in has}.union(body.role_name)
        self.administration.require(caller, "PUT", body.user_id, names)
        self._write(
            caller,
            "set_user_roles",
            has,
            user_id=body.user_id,
            to=body.role_name,
            exactly=True,
        )

    @attempts(_ATTEMPTS, RevisionConflictError)
    def delete_user_roles(self, caller: Identity, user_id: str) -> None:
        """Remove all roles from a user.

        Raises:
            LastAdministratorError: the user is the last administrator.
            PermissionDeniedError: the caller may not change the user.
            UserRolesNotFoundError: the user has none, or none that the caller may see.
        """
        has = self.grants.of_user(user_id)
        if not any(self._may(caller, "GET", row) for row in has):
            raise UserRolesNotFoundError(user_id)
        names = [row.role_name for row in has]
        self.administration.require(caller, "DELETE", user_id, names)
        self._write(caller, "delete_user_roles", has, user_id=user_id, to=[], exactly=True)

    def _write(
        self,
        caller: Identity,
        operation: str,
        has: list[UserRole],
        *,
        user_id: str,
        to: list[str],
        exactly: bool = False,
    ) -> None:
        now = self.clock()
        before = sorted(row.role_name for row in has)
        lost = [row for row in has if exactly and row.role_name not in to]
        new = [name for name in to if name not in before]
        if not (lost or new):
            return
        if not has:
            require_new_names({"userId": user_id})
        writes: list[Write] = []
        for name in new:
            row = UserRole(user_id=user_id, role_name=name, created_on=iso(now))
            writes.extend(assign_writes(row))
        writes.extend(remove_writes(lost))
        if any(row.role_name == ADMIN_ROLE for row in lost):
            writes.append(
                require_assigned(self._another_administrator(caller, user_id), ADMIN_ROLE)
            )
        after = sorted({*before, *new} - {row.role_name for row in lost})
        if not after:
            writes.append(without_default_role(user_id))
        writes.append(
            self.audit.entry(
                caller,
                operation,
                audit_entity("userRole", user_id),
                before={"roleName": before},
                after={"roleName": after},
                at=now,
            )
        )
        self.grants.write([*writes, next_epoch()])

    def _another_administrator(self, caller: Identity, user_id: str) -> str:
        """Return another administrator, who must remain one in the same transaction.

        Raises:
            LastAdministratorError: there is none.
        """
        if caller.user_id != user_id and self.grants.has(caller.user_id, ADMIN_ROLE):
            return caller.user_id
        after: Position | None = None
        while True:
            page = self.grants.holders(ADMIN_ROLE, after)
            for row in page.items:
                if row.user_id != user_id:
                    return row.user_id
            after = page.after
            if after is None:
                raise LastAdministratorError(user_id)

    def _may(self, caller: Identity, action: Action, row: UserRole) -> bool:
        return self.authorization.may(caller, action, secured(row.user_id, row.role_name))


def secured(user_id: str, role_name: str) -> Secured:
    """Return a role of a user as permissions see it."""
    return Secured("userRole", {"userId": user_id, "roleName": role_name})


def secured_user(user_id: str, roles: Iterable[str]) -> list[Secured]:
    """Return a user as permissions see it: with each of its roles, or without one."""
    return [secured(user_id, name) for name in sorted(set(roles))] or [
        Secured("userRole", {"userId": user_id})
    ]


def _by_user(rows_of: dict[str, list[UserRole]]) -> tuple[RolesOfUser, ...]:
    return tuple(RolesOfUser(user_id, rows) for user_id, rows in rows_of.items())


def _position(row: UserRole) -> Position:
    return {"userId": row.user_id, "roleName": row.role_name}
