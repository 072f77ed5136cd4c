"""Whose key a request carries, and who is an administrator."""

from dataclasses import field
from datetime import datetime, timedelta

from backend.core.clock import Clock, iso
from backend.core.wired import wired
from backend.domains.access.models import ADMIN_ROLE, ApiKey
from backend.domains.access.repository import ApiKeyRepository, UserRoleRepository
from backend.domains.access.rules import Pepper, hash_key, is_opened_by, key_in, was_used_lately

ROLE_CACHE = timedelta(seconds=2)
ROLE_CACHE_USERS = 1000


@wired
class KeyAuthentication:
    """Tells whose API key a request carries. Rights are no matter of it."""

    keys: ApiKeyRepository
    pepper: Pepper
    clock: Clock

    def authenticate(self, authorization: str) -> ApiKey | None:
        """The key in an `Authorization` header, if it is valid now; else None.

        Two reads: the index by hash only names the row, because it lags without bound; the row
        itself, read consistently, decides. So a key that was disabled, deleted or given another
        hash is closed with the next request that reaches this.
        """
        text = key_in(authorization)
        if text is None:
            return None
        key_hash = hash_key(self.pepper(), text)
        api_key_id = self.keys.find_id_by_hash(key_hash)
        if api_key_id is None:
            return None
        key = self.keys.get(api_key_id)
        return key if key is not None and is_opened_by(key, key_hash, self.clock()) else None

    def record_use(self, key: ApiKey) -> None:
        """Note that the key was used, at most once an hour."""
        now = self.clock()
        if not was_used_lately(key.last_used_at, now):
            self.keys.record_use(key, iso(now))


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
