"""Initial users, roles and assignments, which bootstrap creates."""

from contextlib import suppress
from dataclasses import dataclass

from backend.core.errors import AlreadyExistsError
from backend.core.models import WireModel
from backend.core.paging import PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import put_new
from backend.domains.access.models.people import Role, User, UserRole
from backend.domains.access.repository.epoch import next_epoch
from backend.spec.tables.access import ROLES, USER_ROLES, USERS
from backend.spec.tables.model import Table


@dataclass(eq=False, repr=False)
class UserRoleRepository:
    """Users, roles, and which user has which role."""

    tables: Tables

    def has_any_role(self, user_id: str) -> bool:
        query = Query(table=USER_ROLES, partition=user_id, consistent=True)
        return bool(self.tables.query(query, PageRequest(1)).items)

    def keep_role(self, role: Role) -> None:
        """Create the role, unless it exists."""
        self._keep(ROLES, role)

    def keep_user(self, user: User) -> None:
        """Create the user, unless it exists."""
        self._keep(USERS, user)

    def keep_user_role(self, user_role: UserRole) -> None:
        """Assign the role to the user, unless it is assigned."""
        self._keep(USER_ROLES, user_role)

    def _keep(self, table: Table, row: WireModel) -> None:
        there = AlreadyExistsError(f"The row in {table.name} already exists")
        with suppress(AlreadyExistsError):
            item = row.model_dump(by_alias=True, exclude_none=True)
            self.tables.transact([put_new(table, item, there), next_epoch()])
