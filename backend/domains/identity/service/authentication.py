"""Authenticates requests by API key or token. Permissions are decided elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from backend.core.clock import Clock, iso
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.rules.keys import (
    Pepper,
    bearer_in,
    check_valid,
    hash_key,
    is_recent_use,
    key_in,
    require_lineage,
)
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.rules.users import check_usable


@dataclass(eq=False, repr=False)
class KeyAuthentication:
    """Authenticates API keys."""

    keys: ApiKeyRepository
    pepper: Pepper
    clock: Clock
    pool_users: "Callable[[], EnabledUsers | None]"
    """Called when the first key of a pool user is used. None without a user pool."""

    def authenticate(self, text: str) -> ApiKey:
        """Return the valid key with this text.

        Two reads: the index by hash, which is eventually consistent, only names the rows; the rows
        themselves, read consistently, decide. So a key that was disabled, deleted or given another
        hash is rejected at the next request that reaches this.

        Raises:
            RefusedError: the key does not exist or is not valid now, or the user pool reports that
                its user is disabled or deleted.
        """
        key_hash, now = hash_key(self.pepper(), text), self.clock()
        indexed = self.keys.find_by_hash(key_hash)
        if indexed is None:
            raise RefusedError(Reason.KEY_UNKNOWN)
        keys, user = self.keys.get_for_use(indexed)
        key = keys.get(indexed.api_key_id)
        # A deployment may give the administrator's key to another user: the index follows soon.
        if key is None or key.user_id != indexed.user_id:
            raise RefusedError(Reason.KEY_UNKNOWN)
        check_valid(key, key_hash, now)
        require_lineage(key, keys, now)
        if user is not None and user.pool_id is not None:
            users = self.pool_users()
            if users is not None and users.pool_id == user.pool_id:
                users.require_enabled(user.user_id)
        return key

    def record_use(self, key: ApiKey) -> None:
        """Record that the key was used, at most once an hour."""
        now = self.clock()
        if not is_recent_use(key.last_used_at, now):
            self.keys.record_use(key, iso(now))


class EnabledUsers(Protocol):
    """The users of one user pool, as far as keys depend on them."""

    @property
    def pool_id(self) -> str: ...

    def require_enabled(self, user_id: str) -> None:
        """Continue unless the pool reports that the user is disabled or deleted."""
        ...


class Tokens(Protocol):
    """Authenticates tokens."""

    def authenticate(self, token: str) -> Identity: ...


class AllowedAddresses(Protocol):
    """Decides whether a request may come from an address."""

    def __contains__(self, address: str, /) -> bool: ...


@dataclass(eq=False, repr=False)
class CallerAuthentication:
    """Identifies the sender of a request."""

    keys: KeyAuthentication
    tokens: Callable[[], Tokens | None]
    """Called for the first token. None if the deployment accepts no tokens."""

    addresses: AllowedAddresses | None
    """The addresses that requests may come from. None: all."""

    unrecorded: Callable[[ApiKey], None]
    """Called with a key whose use could not be recorded; the request continues."""

    def identify(self, authorization: str, address: str) -> Identity:
        """Return the sender of a request with this `Authorization` header from this address.

        Raises:
            RefusedError: the credentials are not valid.
            UnavailableError: it cannot be determined now.
        """
        if self.addresses is not None and address not in self.addresses:
            raise RefusedError(Reason.ADDRESS)
        text = key_in(authorization)
        if text is not None:
            key = self.keys.authenticate(text)
            check_usable(key.user_id)
            try:
                self.keys.record_use(key)
            except UnavailableError:
                self.unrecorded(key)
            # Only a session has what its sign-in proved; a key is no second factor.
            return Identity(key.user_id, key.mfa, key.email, key.api_key_id, key.subject)
        token = bearer_in(authorization)
        if not token:
            raise RefusedError(Reason.NO_CREDENTIALS)
        tokens = self.tokens()
        if tokens is None:
            raise RefusedError(Reason.JWT_OFF)
        return tokens.authenticate(token)
