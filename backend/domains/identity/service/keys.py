"""Operations on API keys."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError, PermissionDeniedError
from backend.core.identity import Identity
from backend.core.ids import NewId
from backend.core.paging import Page, PageRequest, all_items, fill
from backend.core.transactions import Write
from backend.core.user_pool import UserPool
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.errors import ApiKeyNotFoundError, ApiKeyRevisionError
from backend.domains.identity.models.keys import ApiKey, CreateApiKeyBody, UpdateApiKeyBody
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.rules.key_changes import (
    first_expiry,
    lineage_of,
    require_not_after,
    require_permitted,
    user_who_ended,
)
from backend.domains.identity.rules.keys import (
    PREFIX,
    Pepper,
    expires_later,
    hash_key,
    is_expired,
    removal_of,
)
from backend.domains.identity.rules.users import ended_in_pool

# Rows of a page, less than the 1 MB that a request to DynamoDB returns.
_SCANNED = 1000
_ATTEMPTS = 8  # of a deletion that conflicts with changes of the key


@dataclass(eq=False, repr=False)
class ApiKeyService:
    keys: ApiKeyRepository
    roles: AssignedRoles
    profiles: ProfileRepository
    pool: UserPool | None
    authorization: Authorization
    audit: AuditService
    pepper: Pepper
    clock: Clock
    new_id: NewId
    new_secret: Callable[[], str]

    def create_api_key(self, caller: Identity, body: CreateApiKeyBody) -> tuple[ApiKey, str]:
        """Create a key for a user, and return its text, which no later request returns.

        Raises:
            InvalidInputError: the user has no role or is not enabled in the pool, the key would
                be expired already, or would end later than the key of the request.
            PermissionDeniedError: the caller may not, or the key of the request or the caller's
                user in the pool no longer exists.
        """
        require(self.authorization, caller, "POST", Secured("apiKey", {"userId": body.user_id}))
        now = self.clock()
        if body.expires_at and is_expired(body.expires_at, now):
            raise InvalidInputError.of("expiresAt", f"{body.expires_at} is in the past")
        used = self._key_of_request(caller)
        expires_at = first_expiry(body.expires_at, used)
        # The caller itself may have the default role only, or rules of its own.
        is_own = body.user_id == caller.user_id
        if not (is_own or self.roles.of_user(body.user_id)):
            raise InvalidInputError.of("userId", f"user {body.user_id} has no roles")
        if not is_own:
            self._require_enabled(caller)
        pool_user = self._pool_user(body.user_id, in_pool=is_own and caller.in_pool)
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
            expires_at=expires_at,
            remove_at=removal_of(expires_at),
            ended_by=caller.user_id if expires_at else None,
            made_by=lineage_of(used),
            revision=1,
        )
        entry = self.audit.entry(
            caller,
            "create_api_key",
            audit_entity("apiKey", key.api_key_id),
            after=audit_values(key),
            at=now,
        )
        self.keys.put_new(key, entry, *pool_user)
        return key, text

    def get_api_key(self, caller: Identity, api_key_id: str) -> ApiKey:
        """Return the key.

        Raises:
            ApiKeyNotFoundError: it does not exist, or the caller may not see it.
        """
        key = self.keys.get(api_key_id)
        if key is None or not self.authorization.may(caller, "GET", _secured_key(key)):
            raise ApiKeyNotFoundError(api_key_id)
        return key

    def list_api_keys(
        self, caller: Identity, page: PageRequest, *, show_sessions: bool = False
    ) -> Page[ApiKey]:
        """List the keys that the caller may see, in no order."""
        return fill(
            self.keys.list_registry,
            page,
            visible=lambda key: (
                (show_sessions or key.kind is None)
                and self.authorization.may(caller, "GET", _secured_key(key))
            ),
            position_of=lambda key: {"apiKeyId": key.api_key_id},
        )

    def update_api_key(self, caller: Identity, api_key_id: str, body: UpdateApiKeyBody) -> ApiKey:
        """Change the fields of the body.

        Raises:
            ApiKeyNotFoundError: it does not exist, or the caller may not see it.
            ApiKeyRevisionError: it was changed at the same time.
            InvalidInputError: it would end later than a key that created it.
            PermissionDeniedError: the caller may not, may only shorten or disable it, or its user
                in the pool no longer exists.
        """
        api_key = self.get_api_key(caller, api_key_id)
        require(self.authorization, caller, "PUT", _secured_key(api_key))
        require_permitted(api_key, body, caller, self._key_of_request(caller))
        self._require_enabled(caller)
        changes = body.model_dump(by_alias=True, exclude_none=True)
        now = self.clock()
        before = audit_values(api_key)
        entry = self.audit.entry(
            caller,
            "update_api_key",
            audit_entity("apiKey", api_key_id),
            before=before,
            after=before | changes,
            at=now,
        )
        if body.expires_at is not None:
            if api_key.made_by and expires_later(body.expires_at, api_key.expires_at):
                makers = self.keys.get_many(api_key.made_by)
                require_not_after(list(makers.values()), body.expires_at)
            changes["removeAt"] = removal_of(body.expires_at)
        changes["endedBy"] = user_who_ended(api_key, body, caller)
        return self.keys.change(api_key, {**changes, "updatedAt": iso(now)}, entry)

    @attempts(_ATTEMPTS, ApiKeyRevisionError)
    def delete_api_key(self, caller: Identity, api_key_id: str) -> None:
        """Delete the key.

        Raises:
            ApiKeyNotFoundError: it does not exist, or the caller may not see it.
            ApiKeyRevisionError: it is changed concurrently at every attempt.
        """
        api_key = self.get_api_key(caller, api_key_id)
        require(self.authorization, caller, "DELETE", _secured_key(api_key))
        entry = self.audit.entry(
            caller,
            "delete_api_key",
            audit_entity("apiKey", api_key_id),
            before=audit_values(api_key),
        )
        return self.keys.delete(api_key, entry)

    def _require_enabled(self, caller: Identity) -> None:
        """Refuse a user of the pool whose credential the authorizer accepts for 65 more seconds."""
        if self.pool is None:
            return
        user = self.pool.get_user(caller.user_id)
        if ended_in_pool(user, in_pool=caller.in_pool):
            raise PermissionDeniedError(
                f"User {caller.user_id} is disabled in the user pool, or not in it"
            )

    def _key_of_request(self, caller: Identity) -> ApiKey | None:
        """Return the key of the request, or of the sign-in to its session; None for a token.

        Raises:
            PermissionDeniedError: the key was deleted since the authorizer accepted it.
        """
        if caller.api_key_id is None:
            return None
        key = self.keys.get(caller.api_key_id)
        if key is not None and key.kind == "session":
            # What is made with a session must not end as the user signs out.
            if not key.made_by:
                return None
            key = self.keys.get(key.made_by[-1])
        if key is None:
            raise PermissionDeniedError("The API key of this request no longer exists")
        return key

    def _pool_user(self, user_id: str, *, in_pool: bool) -> tuple[Write, ...]:
        """Return the write that records a user of the pool, required with `in_pool`."""
        user = None if self.pool is None else self.pool.get_user(user_id)
        if ended_in_pool(user, in_pool=in_pool):
            raise InvalidInputError.of(
                "userId", f"user {user_id} is disabled in the user pool, or not in it"
            )
        if self.pool is None or user is None:
            return ()
        # The record lets the key end when the pool deletes the user.
        return (self.profiles.pool_write(user_id, self.pool.pool_id),)


@dataclass(eq=False, repr=False)
class UserKeys:
    """The keys of one user, for the administration of users. Permissions are not checked."""

    keys: ApiKeyRepository
    audit: AuditService
    clock: Clock

    def disable_all(self, caller: Identity, user_id: str) -> None:
        """Disable every key of a user; the user cannot enable them again.

        Raises:
            ApiKeyRevisionError: a key is changed concurrently at every attempt.
        """
        # The table, not its index by user: the index may lack a key that was just created.
        for key in all_items(self.keys.list_registry, _SCANNED):
            if key.user_id == user_id:
                self._disable(caller, key.api_key_id)

    @attempts(_ATTEMPTS, ApiKeyRevisionError)
    def _disable(self, caller: Identity, api_key_id: str) -> None:
        key = self.keys.get(api_key_id)
        if key is None:
            return
        now = self.clock()
        changes = {"isActive": "false", "endedBy": caller.user_id}
        before = audit_values(key)
        entry = self.audit.entry(
            caller,
            "disable_api_key",
            audit_entity("apiKey", api_key_id),
            before=before,
            after=before | changes,
            at=now,
        )
        self.keys.change(key, {**changes, "updatedAt": iso(now)}, entry)


def audit_values(key: ApiKey) -> dict[str, Any]:
    """Return a key as its audit entries contain it, without hash, last use and time to live."""
    hidden = {"api_key_hash", "last_used_at", "remove_at"}
    return key.model_dump(by_alias=True, exclude_none=True, exclude=hidden)


def _secured_key(key: ApiKey) -> Secured:
    return Secured("apiKey", {"userId": key.user_id})
