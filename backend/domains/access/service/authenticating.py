"""Whose credentials a request carries: an API key or a token. Rights are no matter of it."""

from collections.abc import Callable
from typing import Protocol

from backend.core.clock import Clock, iso
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.wired import wired
from backend.domains.access.models.keys import ApiKey
from backend.domains.access.repository.keys import ApiKeyRepository
from backend.domains.access.rules.keys import (
    Pepper,
    bearer_in,
    demand_valid,
    hash_key,
    key_in,
    was_used_lately,
)
from backend.domains.access.rules.refusals import Reason, RefusedError
from backend.domains.access.rules.users import demand_usable


@wired
class KeyAuthentication:
    """Tells whose API key it is."""

    keys: ApiKeyRepository
    pepper: Pepper
    clock: Clock

    def authenticate(self, text: str) -> ApiKey:
        """The key of this text, which is valid now.

        Two reads: the index by hash only names the row, because it lags without bound; the row
        itself, read consistently, decides. So a key that was disabled, deleted or given another
        hash is closed with the next request that reaches this.

        Raises:
            RefusedError: there is none, or it is not valid now.
        """
        key_hash = hash_key(self.pepper(), text)
        api_key_id = self.keys.find_id_by_hash(key_hash)
        key = None if api_key_id is None else self.keys.get(api_key_id)
        if key is None:
            raise RefusedError(Reason.KEY_UNKNOWN)
        demand_valid(key, key_hash, self.clock())
        return key

    def record_use(self, key: ApiKey) -> None:
        """Note that the key was used, at most once an hour."""
        now = self.clock()
        if not was_used_lately(key.last_used_at, now):
            self.keys.record_use(key, iso(now))


class Tokens(Protocol):
    """Tells whose token it is."""

    def authenticate(self, token: str) -> Identity: ...


class AllowedAddresses(Protocol):
    """Tells whether a request may come from an address."""

    def __contains__(self, address: str, /) -> bool: ...


@wired
class CallerAuthentication:
    """Tells who sends a request."""

    keys: KeyAuthentication
    tokens: Callable[[], Tokens | None]
    """Asked when the first token is met; None where the deployment takes no tokens."""

    addresses: AllowedAddresses | None
    """Where requests may come from; None: anywhere."""

    unrecorded: Callable[[ApiKey], None]
    """Told of a key whose use could not be noted; the request goes on."""

    def identify(self, authorization: str, address: str) -> Identity:
        """Who sends a request with this `Authorization` header from this address.

        Raises:
            RefusedError: nobody who is known.
            UnavailableError: it cannot be told now.
        """
        if self.addresses is not None and address not in self.addresses:
            raise RefusedError(Reason.ADDRESS)
        text = key_in(authorization)
        if text is not None:
            return self._of_key(text)
        token = bearer_in(authorization)
        if not token:
            raise RefusedError(Reason.NO_CREDENTIALS)
        tokens = self.tokens()
        if tokens is None:
            raise RefusedError(Reason.JWT_OFF)
        return tokens.authenticate(token)

    def _of_key(self, text: str) -> Identity:
        key = self.keys.authenticate(text)
        demand_usable(key.user_id)
        try:
            self.keys.record_use(key)
        except UnavailableError:
            self.unrecorded(key)
        return Identity(key.user_id)  # API keys have no second factor
