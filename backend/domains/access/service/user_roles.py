"""Gives users roles and takes them away, but never the last administrator's."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

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
    StateForbidsError,
)
from backend.core.identity import Identity
from backend.core.paging import MAX_ROWS_PER_PAGE, Page, PageRequest, Position
from backend.core.transactions import Write
from backend.core.wired import wired
from backend.domains.access.models.people import ADMIN_ROLE, UserRole
from backend.domains.access.models.roles import MAX_ROLES, UserRolesBody
from backend.domains.access.repository.epoch import next_epoch
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.repository.roles import (
    GrantRepository,
    UserRoleExistsError,
    UserRolesChangedError,
    UserRolesNotFoundError,
    given,
    kept,
    taken,
)
from backend.domains.audit.models import user_role_entity
from backend.domains.audit.service import AuditService

_ATTEMPTS = 8  # of a change that others of the same user overtake


class LastAdministratorError(StateForbidsError):
    """The last administrator must keep the role."""

    code = "LastAdministrator"

    def __init__(self, user_id: str) -> None:
        super().__init__(
            f"{user_id} is the last administrator; make another user an administrator first"
        )


class RolesOfUser(NamedTuple):
    user_id: str
    rows: list[UserRole]


@wired
class UserAdministration:
    """Decides who may change a user: the roles, the sign-in, the mail address or the password.

    Setting the mail address or the password of a user is becoming that user. So every change takes
    a right to each role that the user has or gets, which a caller with that right could also give.
    """

    policies: PolicyRepository
    authorization: Authorization

    def require(self, caller: Identity, action: Action, user_id: str, roles: Iterable[str]) -> None:
        """Go on only if the caller may change a user who has, or gets, these roles.

        Raises:
            PermissionDeniedError: the caller lacks the right to one of the roles (to the user, if
                there is none), or the user has rules of its own and the caller is no administrator.
        """
        for target in secured_user(user_id, roles):
            require(self.authorization, caller, action, target)
        # No right to a role says anything of what rules give to the user directly.
        if self.policies.has_direct_rules(user_id):
            why = (
                f"{user_id} has constraints of their own: only administrators can change this user"
            )
            require_administrator(self.authorization, caller, why)


@wired
class UserRoleService:
    grants: GrantRepository
    administration: UserAdministration
    authorization: Authorization
    audit: AuditService
    clock: Clock

    def list_user_roles(self, caller: Identity, page: PageRequest) -> Page[RolesOfUser]:
        """Users with those of their roles that the caller may see, in no order; none is split."""
        found: dict[str, list[UserRole]] = {}
        after, rows = page.after, 0
        last: UserRole | None = None
        while True:
            part = self.grants.list_registry(PageRequest(page.limit, after))
            rows += len(part.items)
            for row in part.items:
                is_new = last is None or row.user_id != last.user_id
                if is_new and (len(found) >= page.limit or rows > MAX_ROWS_PER_PAGE):
                    return Page(_by_user(found), None if last is None else _position(last))
                if self._may(caller, "GET", row):
                    found.setdefault(row.user_id, []).append(row)
                last = row
            after = part.after
            if after is None:
                return Page(_by_user(found))

    def add_user_roles(self, caller: Identity, body: UserRolesBody) -> None:
        """Give a user further roles.

        Raises:
            InvalidInputError: there is no such role, or they would be too many.
            PermissionDeniedError: the caller may not change the user, or not give one of them.
            UserRoleExistsError: the user has one of them already.
        """
        for _ in range(_ATTEMPTS):
            has = self.grants.of_user(body.user_id)
            names = {row.role_name for row in has}
            everything = names.union(body.role_name)
            self.administration.require(caller, "POST", body.user_id, everything)
            for name in body.role_name:
                if name in names:
                    raise UserRoleExistsError(body.user_id, name)
            if len(names) + len(body.role_name) > MAX_ROLES:
                raise InvalidInputError.of("roleName", f"a user can have at most {MAX_ROLES} roles")
            with suppress(RevisionConflictError):
                self._write(caller, "add_user_roles", has, user_id=body.user_id, to=body.role_name)
                return
        raise UserRolesChangedError(body.user_id)

    def set_user_roles(self, caller: Identity, body: UserRolesBody) -> None:
        """Give a user these roles and no others.

        Raises:
            InvalidInputError: there is no such role.
            LastAdministratorError: nobody else is an administrator.
            PermissionDeniedError: the caller may not change the user, or not give, or take, one of
                them.
        """
        for _ in range(_ATTEMPTS):
            has = self.grants.of_user(body.user_id)
            names = {row.role_name for row in has}.union(body.role_name)
            self.administration.require(caller, "PUT", body.user_id, names)
            with suppress(RevisionConflictError, AlreadyExistsError):
                self._write(
                    caller,
                    "set_user_roles",
                    has,
                    user_id=body.user_id,
                    to=body.role_name,
                    exactly=True,
                )
                return
        raise UserRolesChangedError(body.user_id)

    def delete_user_roles(self, caller: Identity, user_id: str) -> None:
        """Take all roles from a user.

        Raises:
            LastAdministratorError: nobody else is an administrator.
            PermissionDeniedError: the caller may not change the user.
            UserRolesNotFoundError: the user has none, or none that the caller may see.
        """
        for _ in range(_ATTEMPTS):
            has = self.grants.of_user(user_id)
            if not any(self._may(caller, "GET", row) for row in has):
                raise UserRolesNotFoundError(user_id)
            names = [row.role_name for row in has]
            self.administration.require(caller, "DELETE", user_id, names)
            with suppress(RevisionConflictError):
                self._write(caller, "delete_user_roles", has, user_id=user_id, to=[], exactly=True)
                return
        raise UserRolesChangedError(user_id)

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
        writes: list[Write] = []
        for name in new:
            row = UserRole(user_id=user_id, role_name=name, created_on=iso(now))
            writes.extend(given(row))
        writes.extend(taken(lost))
        if any(row.role_name == ADMIN_ROLE for row in lost):
            writes.append(kept(self._another_administrator(caller, user_id), ADMIN_ROLE))
        after = sorted({*before, *new} - {row.role_name for row in lost})
        writes.append(
            self.audit.entry(
                caller,
                operation,
                user_role_entity(user_id),
                before={"roleName": before},
                after={"roleName": after},
                at=now,
            )
        )
        self.grants.write([*writes, next_epoch()])

    def _another_administrator(self, caller: Identity, user_id: str) -> str:
        """One who stays; that the transaction checks.

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
    """A role of a user as permissions see it."""
    return Secured("userRole", {"userId": user_id, "roleName": role_name})


def secured_user(user_id: str, roles: Iterable[str]) -> list[Secured]:
    """Return a user as permissions see it: with each of its roles, or without one."""
    return [secured(user_id, name) for name in sorted(set(roles))] or [
        Secured("userRole", {"userId": user_id})
    ]


def _by_user(found: dict[str, list[UserRole]]) -> tuple[RolesOfUser, ...]:
    return tuple(RolesOfUser(user_id, rows) for user_id, rows in found.items())


def _position(row: UserRole) -> Position:
    return {"userId": row.user_id, "roleName": row.role_name}
