"""What can be done with API keys, and what they and roles tell of a caller."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import SYSTEM, Identity
from backend.core.ids import NewId, stable_uuid
from backend.core.paging import Page, PageRequest, fill
from backend.core.wired import wired
from backend.domains.access.models import (
    ADMIN_ROLE,
    ApiKey,
    CreateApiKeyBody,
    Role,
    UpdateApiKeyBody,
    User,
    UserRole,
)
from backend.domains.access.repository import (
    ApiKeyNotFoundError,
    ApiKeyRepository,
    ApiKeyRevisionError,
    UserRoleRepository,
)
from backend.domains.access.rules import (
    PREFIX,
    hash_key,
    is_expired,
    is_opened_by,
    key_in,
    was_used_lately,
)
from backend.domains.audit.models import api_key_entity
from backend.domains.audit.service import AuditService

_ATTEMPTS = 8  # of a deletion that changes of the same key overtake
Pepper = Callable[[], bytes]

ADMIN_KEY_ID = stable_uuid("the administrator's API key")
ROLE_CACHE = timedelta(seconds=2)
ROLE_CACHE_USERS = 1000


@wired
class ApiKeyService:
    keys: ApiKeyRepository
    roles: UserRoleRepository
    authorization: Authorization
    audit: AuditService
    pepper: Pepper
    clock: Clock
    new_id: NewId
    new_secret: Callable[[], str]

    def create_api_key(self, caller: Identity, body: CreateApiKeyBody) -> tuple[ApiKey, str]:
        """A key for a user, and its text, which is told now and never again.

        Raises:
            InvalidInputError: the user has no role, or the key would be expired already.
        """
        require(self.authorization, caller, "POST", Secured("apiKey", {"userId": body.user_id}))
        now = self.clock()
        if body.expires_at and is_expired(body.expires_at, now):
            raise InvalidInputError.of("expiresAt", f"{body.expires_at} is past")
        if not self.roles.has_any_role(body.user_id):
            raise InvalidInputError.of("userId", f"user {body.user_id} has no role")
        text = PREFIX + self.new_secret()
        key = ApiKey(
            api_key_id=self.new_id(),
            api_key_name=body.api_key_name,
            api_key_hash=hash_key(self.pepper(), text),
            description=body.description,
            user_id=body.user_id,
            created_by=caller.user_id,
            created_at=iso(now),
            updated_at=iso(now),
            expires_at=body.expires_at or "",
            revision=1,
        )
        entry = self.audit.entry(
            caller, "create_api_key", api_key_entity(key.api_key_id), after=_told(key), at=now
        )
        self.keys.put_new(key, entry)
        return key, text

    def get_api_key(self, caller: Identity, api_key_id: str) -> ApiKey:
        """The key.

        Raises:
            ApiKeyNotFoundError: it does not exist, or not for the caller.
        """
        found = self.keys.get(api_key_id)
        if found is None or not self.authorization.may(caller, "GET", _secured(found)):
            raise ApiKeyNotFoundError(api_key_id)
        return found

    def list_api_keys(self, caller: Identity, page: PageRequest) -> Page[ApiKey]:
        """Keys that the caller may see, in no order."""
        return fill(
            self.keys.list_registry,
            page,
            visible=lambda key: self.authorization.may(caller, "GET", _secured(key)),
            position_of=lambda key: {"apiKeyId": key.api_key_id},
        )

    def update_api_key(self, caller: Identity, api_key_id: str, body: UpdateApiKeyBody) -> ApiKey:
        """Change the fields that are given.

        Raises:
            ApiKeyNotFoundError: it does not exist, or not for the caller.
            ApiKeyRevisionError: someone else changed it at the same time.
        """
        found = self.get_api_key(caller, api_key_id)
        require(self.authorization, caller, "PUT", _secured(found))
        changes = body.model_dump(by_alias=True, exclude_none=True)
        now = self.clock()
        before = _told(found)
        entry = self.audit.entry(
            caller,
            "update_api_key",
            api_key_entity(api_key_id),
            before=before,
            after=before | changes,
            at=now,
        )
        return self.keys.change(found, {**changes, "updatedAt": iso(now)}, entry)

    def delete_api_key(self, caller: Identity, api_key_id: str) -> None:
        """Remove the key for good.

        Raises:
            ApiKeyNotFoundError: it does not exist, or not for the caller.
            ApiKeyRevisionError: others change it all the time.
        """
        for _ in range(_ATTEMPTS):
            found = self.get_api_key(caller, api_key_id)
            require(self.authorization, caller, "DELETE", _secured(found))
            entry = self.audit.entry(
                caller,
                "delete_api_key",
                api_key_entity(api_key_id),
                before=_told(found),
                at=self.clock(),
            )
            with suppress(ApiKeyRevisionError):
                return self.keys.delete(found, entry)
        raise ApiKeyRevisionError(api_key_id)


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


@wired
class Administrators:
    """Makes the first administrator of a deployment. For bootstrap only: nobody is asked."""

    keys: ApiKeyRepository
    roles: UserRoleRepository
    pepper: Pepper
    clock: Clock

    def establish(self, user_id: str, key_text: str) -> None:
        """See to it that the user is an administrator whom this key identifies.

        Safe to run again: what is there stays, a key that was disabled among it; a new key
        text replaces the old one, a new user takes the key over.
        """
        now = iso(self.clock())
        self.roles.keep_role(
            Role(role_name=ADMIN_ROLE, description="May do everything", created_on=now)
        )
        self.roles.keep_user(User(user_id=user_id, created_on=now))
        self.roles.keep_user_role(UserRole(user_id=user_id, role_name=ADMIN_ROLE, created_on=now))
        key_hash = hash_key(self.pepper(), key_text)
        found = self.keys.get(ADMIN_KEY_ID)
        if found is None:
            self.keys.put_new(_admin_key(user_id, key_hash, now))
        elif (found.user_id, found.api_key_hash) != (user_id, key_hash):
            changes = {"userId": user_id, "apiKeyHash": key_hash, "updatedAt": now}
            self.keys.change(found, changes)


def _admin_key(user_id: str, key_hash: str, now: str) -> ApiKey:
    return ApiKey(
        api_key_id=ADMIN_KEY_ID,
        api_key_name="administrator",
        api_key_hash=key_hash,
        description="Made with the deployment; the text is in its secret",
        user_id=user_id,
        created_by=SYSTEM.user_id,
        created_at=now,
        updated_at=now,
        revision=1,
    )


def _told(key: ApiKey) -> dict[str, Any]:
    """A key as its audit entries tell it: without its hash, and not when it was last used."""
    hidden = {"api_key_hash", "last_used_at"}
    return key.model_dump(by_alias=True, exclude_none=True, exclude=hidden)


def _secured(key: ApiKey) -> Secured:
    return Secured("apiKey", {"userId": key.user_id})
