"""What can be done with API keys."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.ids import NewId
from backend.core.paging import Page, PageRequest, fill
from backend.core.wired import wired
from backend.domains.access.models.keys import ApiKey, CreateApiKeyBody, UpdateApiKeyBody
from backend.domains.access.repository.keys import (
    ApiKeyNotFoundError,
    ApiKeyRepository,
    ApiKeyRevisionError,
)
from backend.domains.access.repository.people import UserRoleRepository
from backend.domains.access.rules.keys import (
    PREFIX,
    Pepper,
    hash_key,
    is_expired,
    removal_of,
)
from backend.domains.audit.models import api_key_entity
from backend.domains.audit.service import AuditService

_ATTEMPTS = 8  # of a deletion that changes of the same key overtake


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
            remove_at=removal_of(body.expires_at or ""),
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
        if body.expires_at is not None:
            changes["removeAt"] = removal_of(body.expires_at)
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


def _told(key: ApiKey) -> dict[str, Any]:
    """A key as its audit entries tell it: without its hash, its last use, and when it goes."""
    hidden = {"api_key_hash", "last_used_at", "remove_at"}
    return key.model_dump(by_alias=True, exclude_none=True, exclude=hidden)


def _secured(key: ApiKey) -> Secured:
    return Secured("apiKey", {"userId": key.user_id})
