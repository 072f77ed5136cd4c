"""Creates the first administrator."""

from dataclasses import dataclass

from backend.core.clock import Clock, iso
from backend.core.identity import SYSTEM
from backend.core.ids import stable_uuid
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.models.users import User
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.rules.keys import Pepper, hash_key

ADMIN_KEY_ID = stable_uuid("the administrator's API key")


@dataclass(eq=False, repr=False)
class Administrators:
    """Creates the first administrator. For bootstrap only: no permission is checked."""

    keys: ApiKeyRepository
    profiles: ProfileRepository
    roles: AssignedRoles
    pepper: Pepper
    clock: Clock

    def ensure(self, user_id: str, key_text: str) -> None:
        """Ensure that the user is an administrator who is identified by this key.

        Safe to run again: existing rows are kept, including a disabled key; a new key text replaces
        the old one, and a new user replaces the key's owner.
        """
        now = iso(self.clock())
        self.profiles.ensure(User(user_id=user_id, created_on=now))
        self.roles.ensure_administrator(user_id, now)
        key_hash = hash_key(self.pepper(), key_text)
        key = self.keys.get(ADMIN_KEY_ID)
        if key is None:
            self.keys.put_new(_admin_key(user_id, key_hash, now))
        elif (key.user_id, key.api_key_hash) != (user_id, key_hash):
            changes = {"userId": user_id, "apiKeyHash": key_hash, "updatedAt": now}
            self.keys.change(key, changes)


def _admin_key(user_id: str, key_hash: str, now: str) -> ApiKey:
    return ApiKey(
        api_key_id=ADMIN_KEY_ID,
        api_key_name="administrator",
        api_key_hash=key_hash,
        description="Created with the deployment; the key is stored in Secrets Manager",
        user_id=user_id,
        created_by=SYSTEM.user_id,
        created_at=now,
        updated_at=now,
        revision=1,
    )
