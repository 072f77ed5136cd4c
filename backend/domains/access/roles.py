"""The roles of users. (Roles and constraints themselves come with the access domain's rules.)"""

from dataclasses import dataclass

from backend.core.tables import Tables
from backend.spec.tables.access import USER_ROLES

ADMIN_ROLE = "admin"


@dataclass(frozen=True, slots=True)
class UserRoles:
    """The table of user roles, by access pattern."""

    tables: Tables

    def is_administrator(self, user_id: str) -> bool:
        """Whether the user has the role `admin` now (a consistent read of one row)."""
        key = {"userId": user_id, "roleName": ADMIN_ROLE}
        return self.tables.get(USER_ROLES, key) is not None
