"""The roles of users, for other slices."""

from dataclasses import dataclass

from backend.domains.access.models.stored_roles import ADMIN_ROLE, Role
from backend.domains.access.repository.epoch import next_epoch
from backend.domains.access.repository.policies import without_default_role
from backend.domains.access.repository.roles import GrantRepository


@dataclass(eq=False, repr=False)
class AssignedRoles:
    """Permissions are not checked."""

    grants: GrantRepository

    def of_user(self, user_id: str) -> list[str]:
        """Return the names of the user's roles."""
        return [row.role_name for row in self.grants.of_user(user_id)]

    def withhold_default(self, user_id: str) -> None:
        """Exclude the user from the default role, also if the id is used again."""
        self.grants.write([without_default_role(user_id), next_epoch()])

    def ensure_administrator(self, user_id: str, now: str) -> None:
        """Create the role of administrators and assign it to the user, unless that is done."""
        role = Role(role_name=ADMIN_ROLE, description="Has every permission", created_on=now)
        self.grants.ensure(role, user_id)
