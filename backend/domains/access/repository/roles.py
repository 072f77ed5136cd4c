"""The tables of roles and of their assignments, for administrators.

Both are registries: scanned by page. Each assignment increments a count at the role, in the same
transaction, so that a deletion of a role with all its users misses none.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.core.errors import (
    AlreadyExistsError,
    InvalidInputError,
)
from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Check,
    Condition,
    Delete,
    Update,
    Write,
    absent,
    equals,
    exists,
    put_new,
)
from backend.domains.access.errors import (
    RoleExistsError,
    RoleNotFoundError,
    RoleRevisionError,
    UserRoleExistsError,
    UserRolesChangedError,
)
from backend.domains.access.models.stored_roles import Role, UserRole
from backend.domains.access.repository.epoch import next_epoch
from backend.spec.tables.access import ROLE_NAME, ROLES, USER_ID, USER_ROLES

_ROLE = ROLE_NAME.name
_USER = USER_ID.name
_SCAN_PAGE = 1000  # rows of a request at most; DynamoDB ends a page after 1 MB
_DELETED_BY = "deletedBy"


@dataclass(eq=False, repr=False)
class RoleRepository:
    """Roles; `others` are writes of the same transaction."""

    tables: Tables

    def get(self, role_name: str) -> Role | None:
        """Return the role, even if it is being deleted."""
        item = self.tables.get(ROLES, {_ROLE: role_name})
        return None if item is None else Role.model_validate(item)

    def existing(self, role_names: Iterable[str]) -> set[str]:
        """Return those of the roles that exist and are not being deleted."""
        keys = [(ROLES, {_ROLE: name}) for name in role_names]
        items = (item for _, item in self.tables.get_many(keys))
        return {item[_ROLE] for item in items if item.get(_DELETED_BY) is None}

    def list_registry(self, page: PageRequest) -> Page[Role]:
        return self.tables.scan(ROLES, page).map(Role.model_validate)

    def put_new(self, role: Role, *others: Write) -> None:
        item = role.model_dump(by_alias=True, exclude_none=True)
        self.tables.transact([put_new(ROLES, item, RoleExistsError(role.role_name)), *others])

    def change(self, role: Role, changes: Mapping[str, Any], *others: Write) -> None:
        """Set some attributes, if the role is unchanged since it was read; None removes one."""
        update = Update(
            table=ROLES,
            key={_ROLE: role.role_name},
            set={name: value for name, value in changes.items() if value is not None},
            remove=tuple(name for name, value in changes.items() if value is None),
            add={"revision": 1},
            conditions=_require_unchanged(role),
            refused=RoleRevisionError(role.role_name),
        )
        self.tables.transact([update, *others])

    def delete(self, role: Role, *others: Write) -> None:
        """Delete the role, if it was neither changed nor assigned since it was read."""
        # Each assignment increments `grants`, so no user keeps a role that is being deleted.
        assign_writes = absent("grants") if role.grants is None else equals("grants", role.grants)
        gone = Delete(
            table=ROLES,
            key={_ROLE: role.role_name},
            conditions=(*_require_unchanged(role), assign_writes),
            refused=RoleRevisionError(role.role_name),
        )
        self.tables.transact([gone, *others])

    def finish(self, role_name: str, job_id: str) -> None:
        """Delete a role that this job has removed from all users.

        Raises:
            RoleNotFoundError: the role was deleted before.
        """
        self.tables.write(
            Delete(
                table=ROLES,
                key={_ROLE: role_name},
                conditions=(equals(_DELETED_BY, job_id),),
                refused=RoleNotFoundError(role_name),
            )
        )


def _require_unchanged(role: Role) -> tuple[Condition, ...]:
    seen = absent("revision") if role.revision is None else equals("revision", role.revision)
    return (exists(_ROLE), seen, absent(_DELETED_BY))


@dataclass(eq=False, repr=False)
class GrantRepository:
    """Assignments of roles to users."""

    tables: Tables

    def of_user(self, user_id: str) -> list[UserRole]:
        query = Query(table=USER_ROLES, partition=user_id, consistent=True)
        return [UserRole.model_validate(item) for item in self.tables.query_all(query)]

    def has(self, user_id: str, role_name: str) -> bool:
        return self.tables.get(USER_ROLES, {_USER: user_id, _ROLE: role_name}) is not None

    def list_registry(self, page: PageRequest) -> Page[UserRole]:
        """List rows in no order; those of one user are adjacent."""
        return self.tables.scan(USER_ROLES, page).map(UserRole.model_validate)

    def holders(self, role_name: str, after: Position | None) -> Page[UserRole]:
        """Return the users with the role, of the next thousand rows of all roles."""
        rows = self.list_registry(PageRequest(_SCAN_PAGE, after))
        return Page(tuple(row for row in rows.items if row.role_name == role_name), rows.after)

    def write(self, writes: Sequence[Write]) -> None:
        self.tables.transact(writes)

    def ensure(self, role: Role, user_id: str) -> None:
        """Create the role, and assign it to the user, unless that has been done."""
        row = UserRole(user_id=user_id, role_name=role.role_name, created_on=role.created_on)
        for table, model in ((ROLES, role), (USER_ROLES, row)):
            there = AlreadyExistsError(f"The row in {table.name} already exists")
            with suppress(AlreadyExistsError):
                item = model.model_dump(by_alias=True, exclude_none=True)
                self.tables.transact([put_new(table, item, there), next_epoch()])


def assign_writes(row: UserRole) -> list[Write]:
    """Return the writes that assign an existing role to a user."""
    name = row.role_name
    new = put_new(
        USER_ROLES,
        row.model_dump(by_alias=True, exclude_none=True),
        UserRoleExistsError(row.user_id, name),
    )
    counted = Update(
        table=ROLES,
        key={_ROLE: name},
        add={"grants": 1},
        conditions=(exists(_ROLE), absent(_DELETED_BY)),
        refused=InvalidInputError.of("roleName", f"role {name} does not exist"),
    )
    return [new, counted]


def remove_writes(rows: Iterable[UserRole]) -> list[Delete]:
    """Return the writes that remove roles from users."""
    return [
        Delete(
            table=USER_ROLES,
            key={_USER: row.user_id, _ROLE: row.role_name},
            conditions=(exists(_USER),),
            refused=UserRolesChangedError(row.user_id),
        )
        for row in rows
    ]


def require_assigned(user_id: str, role_name: str) -> Check:
    """Return the condition that a user still has the role."""
    return Check(
        table=USER_ROLES,
        key={_USER: user_id, _ROLE: role_name},
        conditions=(exists(_USER),),
        refused=UserRolesChangedError(user_id),
    )
