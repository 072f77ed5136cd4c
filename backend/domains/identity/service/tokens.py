"""Authenticates tokens. Imported with the first token."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.remote_json import RemoteJson
from backend.core.user_pool import PoolUser, UserPool
from backend.domains.identity.rules.claims import Issuer, identity_of
from backend.domains.identity.rules.discovery import discovery_url, keys_url
from backend.domains.identity.rules.key_sets import SigningKey, usable_keys
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.rules.tokens import parse_object, parse_unverified, verified_claims
from backend.domains.identity.rules.users import ended_in_pool

KEYS_FRESH = timedelta(minutes=10)
"""Maximum time for which a revoked signing key is accepted while the provider responds."""

# Maximum age of cached keys while the provider does not respond: an outage of the provider ends no
# sign-in for this time, and a key that it revoked meanwhile is accepted as long (guide
# `identity-providers`).
KEYS_LIMIT = timedelta(hours=6)

# Time between two attempts to read a provider's keys: random key ids must not burden it.
KEYS_PAUSE = timedelta(seconds=10)

# Cognito limits how often users are read; a disabled user is accepted as long (decision 32).
USERS_FRESH = timedelta(seconds=60)
# Bounds the memory of a warm process: the user who was read first leaves the cache (decision 32).
USERS_KNOWN = 1000

Warn = Callable[[str], None]


@dataclass
class _Known:
    """The keys of a provider, when they were read, and the result of the last attempt."""

    keys: Mapping[str, SigningKey] = field(default_factory=dict[str, SigningKey])
    read_at: datetime | None = None
    tried_at: datetime | None = None
    failed: bool = False


@dataclass(eq=False, repr=False)
class ProviderKeys:
    """The keys of one provider, read when they are needed and cached."""

    remote_json: RemoteJson
    clock: Clock
    warn: Warn
    issuer: str
    address: str | None = None
    """The address of the keys. None: the discovery document has it."""

    _known: _Known = field(default_factory=_Known)

    def get(self, key_id: str) -> SigningKey:
        """Return the key of this id.

        For an unknown id the keys are read again, but never twice within `KEYS_PAUSE`, so that
        random ids cannot burden the provider.

        Raises:
            RefusedError: the provider has no such key.
            UnavailableError: the key is unknown, and the provider does not respond.
        """
        now, known = self.clock(), self._known
        if key_id in known.keys and _is_within(known.read_at, now, KEYS_FRESH):
            return known.keys[key_id]
        if not _is_within(known.tried_at, now, KEYS_PAUSE):
            self._read(now)
        if not _is_within(known.read_at, now, KEYS_LIMIT):
            # Keys of that age are not used again, even if the provider's next reply is broken.
            known.keys = {}
            raise UnavailableError(
                "The signing keys of the identity provider are not available; try again"
            )
        if key_id in known.keys:
            return known.keys[key_id]
        if known.failed:
            raise UnavailableError("The identity provider does not respond; try again")
        raise RefusedError(Reason.JWT_KEY)

    def _read(self, now: datetime) -> None:
        known = self._known
        # Before the attempt: a failure counts as one, too.
        known.tried_at = now
        try:
            address = self.address or keys_url(
                self._object(discovery_url(self.issuer)), self.issuer
            )
            known.keys = usable_keys(self._object(address))
        except (UnavailableError, ValueError) as error:
            known.failed = True
            self.warn(f"the keys of {self.issuer} cannot be read: {error}")
        else:
            known.read_at, known.failed = now, False

    def _object(self, address: str) -> dict[str, Any]:
        return parse_object(self.remote_json.read(address))


@dataclass(eq=False, repr=False)
class PoolUsers:
    """The state of users in the user pool, cached for a minute."""

    pool: UserPool
    clock: Clock
    warn: Warn
    # A local pool is empty at each start.
    absence_counts: bool = True
    """Whether a user who is missing from the pool was deleted."""

    _known: dict[str, tuple[datetime, PoolUser | None]] = field(
        default_factory=dict[str, tuple[datetime, PoolUser | None]]
    )

    def completed(self, identity: Identity) -> Identity:
        """Return the identity with its second factor, which no token of the pool states.

        If Cognito does not respond, no second factor is assumed.

        Raises:
            RefusedError: the user was disabled or deleted since the token was issued.
        """
        try:
            user = self._find(identity.user_id)
        except UnavailableError as error:
            self.warn(f"the user pool's reply about a user is invalid: {error}")
            return identity._replace(mfa=False, in_pool=True)
        if user is None or not user.enabled:
            raise RefusedError(Reason.USER_DISABLED, userId=identity.user_id)
        # Cognito requires the second factor of every user who has one.
        return identity._replace(mfa=user.mfa_enabled, in_pool=True)

    @property
    def pool_id(self) -> str:
        return self.pool.pool_id

    def require_enabled(self, user_id: str) -> None:
        """Continue unless the pool reports that the user is disabled or deleted.

        Raises:
            RefusedError: the pool has disabled the user, or has no such user.
        """
        try:
            user = self._find(user_id)
        except UnavailableError as error:
            self.warn(f"the user pool does not respond for the owner of an API key: {error}")
            # An API key does not depend on the pool otherwise, so it remains valid during its
            # outage.
            return
        if ended_in_pool(user, in_pool=self.absence_counts):
            raise RefusedError(Reason.USER_DISABLED, userId=user_id)

    def _find(self, user_id: str) -> PoolUser | None:
        now = self.clock()
        known = self._known.get(user_id)
        if known is not None and _is_within(known[0], now, USERS_FRESH):
            return known[1]
        user = self.pool.get_user(user_id)
        self._known.pop(user_id, None)
        while len(self._known) >= USERS_KNOWN:
            del self._known[next(iter(self._known))]  # the one that was checked longest ago
        self._known[user_id] = (now, user)
        return user


@dataclass(eq=False, repr=False)
class TrustedIssuer:
    """A provider whose tokens are accepted; `users` is set for the deployment's own pool.

    `audiences` returns those that deployments of other stacks add to the issuer's.
    """

    issuer: Issuer
    keys: ProviderKeys
    users: PoolUsers | None = None
    audiences: Callable[[], frozenset[str]] = frozenset


@dataclass(eq=False, repr=False)
class TokenAuthentication:
    """Authenticates tokens."""

    issuers: Mapping[str, TrustedIssuer]
    clock: Clock

    def authenticate(self, token: str) -> Identity:
        """Return the user of the token.

        Raises:
            RefusedError: the token is not valid here and now.
            UnavailableError: it cannot be determined now.
        """
        said = parse_unverified(token)
        trusted = self.issuers.get(said.issuer)
        if trusted is None:
            raise RefusedError(Reason.JWT_ISSUER)
        # The issuer selects the keys; nothing else of the token is used before its signature is
        # verified.
        claims = verified_claims(token, said.algorithm, trusted.keys.get(said.key_id))
        audiences = trusted.issuer.audiences | trusted.audiences()
        issuer = trusted.issuer._replace(audiences=audiences)
        identity = identity_of(issuer, claims, self.clock())
        return identity if trusted.users is None else trusted.users.completed(identity)


def _is_within(moment: datetime | None, now: datetime, span: timedelta) -> bool:
    """Return whether a time is recent.

    Times in the future, from a clock that was reset, are not.
    """
    return moment is not None and timedelta(0) <= now - moment < span
