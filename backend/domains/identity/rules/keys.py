"""The validity of API keys, and their form in a request."""

import hashlib
import hmac
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time, timedelta

from backend.domains.identity.models.keys import ApiKey, parse_expiry
from backend.domains.identity.rules.refusals import Reason, RefusedError

PREFIX = "vams_"
Pepper = Callable[[], bytes]
# An API key: at least 256 bits in URL-safe base64. Other texts are rejected without a read.
_KEY = re.compile(r"vams_[A-Za-z0-9_-]{43,250}")

_BEARER = re.compile(r"bearer +", re.IGNORECASE)

# DynamoDB removes the row then; until that, lists show that the key has expired.
KEPT_AFTER_EXPIRY = timedelta(days=30)
# Precision of the time of the last use. A more precise time would cost a write per request.
LAST_USE_STEP = timedelta(hours=1)


def with_prefix(secret: str) -> str:
    """Return the key for a secret; a key is returned unchanged."""
    return secret if secret.startswith(PREFIX) else PREFIX + secret


def key_in(authorization: str) -> str | None:
    """Return the API key in an `Authorization` header; None if there is none."""
    bearer = bearer_in(authorization)
    candidate = authorization.strip() if bearer is None else bearer
    return candidate if _KEY.fullmatch(candidate) else None


def bearer_in(authorization: str) -> str | None:
    """Return the text after `Bearer` in an `Authorization` header; None without it."""
    text = authorization.strip()
    bearer = _BEARER.match(text)
    return text[bearer.end() :] if bearer else None


def hash_key(pepper: bytes, key: str) -> str:
    """Return the stored hash of a key. The pepper prevents a search in a copy of the table."""
    return hmac.new(pepper, key.encode(), hashlib.sha256).hexdigest()


def is_expired(expires_at: str, now: datetime) -> bool:
    """Return whether a key has expired; a date is valid until its end in UTC."""
    if not expires_at:
        return False
    try:
        expiry = parse_expiry(expires_at)
    except ValueError:
        # Stored by another program: access is denied.
        return True
    if isinstance(expiry, datetime):
        return now >= expiry
    return now.astimezone(UTC).date() > expiry


def removal_of(expires_at: str) -> int | None:
    """Return when the row of a key is deleted, in seconds since 1970; None without an expiry."""
    if not expires_at:
        return None
    return math.ceil(end_of(expires_at)) + int(KEPT_AFTER_EXPIRY.total_seconds())


def expires_later(expires_at: str, other: str) -> bool:
    """Return whether a key with the first expiry is valid longer than one with the second."""
    return end_of(expires_at) > end_of(other)


def end_of(expires_at: str) -> float:
    """Return the last moment of an expiry in seconds since 1970; infinity for none.

    An expiry that cannot be parsed has passed, as in `is_expired`.
    """
    if not expires_at:
        return math.inf
    try:
        expiry = parse_expiry(expires_at)
    except ValueError:
        return -math.inf
    if not isinstance(expiry, datetime):
        expiry = datetime.combine(expiry, time.max, UTC)
    return expiry.timestamp()


def require_lineage(key: ApiKey, keys: Mapping[str, ApiKey], now: datetime) -> None:
    """Require that every key that this one descends from is still valid.

    Raises:
        RefusedError: one of them was deleted or disabled, or has expired.
    """
    # Otherwise keys that were created with a stolen key would remain valid after it is disabled.
    for maker_id in key.made_by or ():
        maker = keys.get(maker_id)
        if maker is None or maker.is_active != "true" or is_expired(maker.expires_at, now):
            raise RefusedError(Reason.KEY_MAKER, apiKeyId=key.api_key_id, madeBy=maker_id)


def check_valid(key: ApiKey, key_hash: str, now: datetime) -> None:
    """Require that the stored key has this hash and is valid now.

    Raises:
        RefusedError: the hash differs, or the key is disabled or has expired.
    """
    if not hmac.compare_digest(key.api_key_hash.encode(), key_hash.encode()):
        raise RefusedError(Reason.KEY_UNKNOWN)
    if key.is_active != "true":
        raise RefusedError(Reason.KEY_DISABLED, apiKeyId=key.api_key_id)
    if is_expired(key.expires_at, now):
        raise RefusedError(Reason.KEY_EXPIRED, apiKeyId=key.api_key_id)


def is_recent_use(last_used_at: str | None, now: datetime) -> bool:
    """Return whether the recorded last use is recent enough to be kept."""
    if last_used_at is None:
        return False
    try:
        return now - datetime.fromisoformat(last_used_at) < LAST_USE_STEP
    except (TypeError, ValueError):  # no time, or one without an offset
        return False
