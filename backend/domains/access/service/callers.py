"""Who is an administrator."""

from dataclasses import field
from datetime import datetime, timedelta

from backend.core.clock import Clock
from backend.core.wired import wired
from backend.domains.access.models import ADMIN_ROLE
from backend.domains.access.repository import UserRoleRepository

ROLE_CACHE = timedelta(seconds=2)
ROLE_CACHE_USERS = 1000


@wired
class UserRoles:
    """Who is an administrator, remembered for two seconds: every request asks several times.

    A role that was taken away is gone after those two seconds in every process.
    """

    roles: UserRoleRepository
    clock: Clock
    _known: dict[str, tuple[datetime, bool]] = field(
        default_factory=dict[str, tuple[datetime, bool]]
    )

    def is_administrator(self, user_id: str) -> bool:
        """Whether the user has, or had two seconds ago, the role `admin`."""
        now = self.clock()
        known = self._known.get(user_id)
        # A clock that was set back makes an answer of the future: it is not believed.
        if known is not None and timedelta(0) <= now - known[0] < ROLE_CACHE:
            return known[1]
        answer = self.roles.has_role(user_id, ADMIN_ROLE)
        self._known.pop(user_id, None)
        while len(self._known) >= ROLE_CACHE_USERS:
            del self._known[next(iter(self._known))]  # the one asked longest ago
        self._known[user_id] = (now, answer)
        return answer
