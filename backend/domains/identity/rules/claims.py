"""Checks the claims of a verified token, and finds the user that they name."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, cast

from backend.core.identity import Identity
from backend.core.names import is_email
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.rules.users import check_usable, has_prefix

# Maximum difference between the provider's clock and the local one; both are synchronized.
LEEWAY_SECONDS = 30

# Maximum time of a claim, in seconds. Far beyond the last date of the calendar, and exact as a
# float.
_LATEST = 1e12

_BOUND = ("cnf", "events")
"""Claims of tokens that are bound to a key of their holder, and of security events."""


class Issuer(NamedTuple):
    """A provider whose tokens are accepted, and the meaning of its claims.

    `user_claims`: the first that a token has names the user. The user ids of the provider begin
    with `user_prefix`; none begins with `foreign_prefix`, that of another provider's users.
    `mfa_claim` contains how the user authenticated; one of `mfa_values` in it is a second factor.
    """

    url: str
    audiences: frozenset[str]
    user_claims: tuple[str, ...]
    user_prefix: str = ""
    email_claim: str = "email"
    mfa_claim: str = "amr"
    mfa_values: frozenset[str] = frozenset({"mfa"})
    is_user_pool: bool = False
    foreign_prefix: str = ""


def identity_of(issuer: Issuer, claims: Mapping[str, Any], now: datetime) -> Identity:
    """Return the user whom the claims name.

    Raises:
        RefusedError: the claims are not valid now, are for another audience, or name no user.
    """
    if claims.get("iss") != issuer.url:
        raise RefusedError(Reason.JWT_ISSUER)
    if any(name in claims for name in _BOUND):
        raise RefusedError(Reason.JWT_USE)
    subject, user_id = _text(claims, "sub"), _user_id(issuer, claims)
    _check_audience(issuer, claims)
    _check_time(claims, now.timestamp())
    signed_in = _moment(claims, "iat")
    # A refreshed token keeps the time of the sign-in, but many providers send none.
    with suppress(RefusedError):
        signed_in = min(signed_in, _moment(claims, "auth_time"))
    email, verified = claims.get(issuer.email_claim), claims.get("email_verified")
    # Many providers let users enter any address, and notifications are sent to it.
    known = isinstance(email, str) and is_email(email) and verified in (True, "true")
    return Identity(
        user_id,
        mfa=not _texts(claims.get(issuer.mfa_claim)).isdisjoint(issuer.mfa_values),
        email=cast("str", email) if known else None,
        subject=subject if subject != user_id else None,
        auth_time=int(signed_in),
    )


def _user_id(issuer: Issuer, claims: Mapping[str, Any]) -> str:
    name = next((claim for claim in issuer.user_claims if claim in claims), None)
    if name is None:
        raise RefusedError(Reason.JWT_CLAIMS, claim=" or ".join(issuer.user_claims))
    if name == "email" and claims.get("email_verified") not in (True, "true"):
        # Any user may enter another's address in an own account.
        raise RefusedError(Reason.JWT_CLAIMS, claim="email_verified")
    user_id = check_usable(issuer.user_prefix + _text(claims, name))
    if has_prefix(user_id, issuer.foreign_prefix):
        raise RefusedError(Reason.USER)
    return user_id


def _check_audience(issuer: Issuer, claims: Mapping[str, Any]) -> None:
    """Require that tokens are for us.

    By `aud`, and access tokens of the user pool by `client_id`.
    """
    use: object = claims.get("token_use")
    if use not in ("id", "access") and (issuer.is_user_pool or use is not None):
        raise RefusedError(Reason.JWT_USE)
    by_client = issuer.is_user_pool and use == "access" and "aud" not in claims
    name = "client_id" if by_client else "aud"
    if name not in claims:
        raise RefusedError(Reason.JWT_CLAIMS, claim=name)
    if _texts(claims[name]).isdisjoint(issuer.audiences):
        raise RefusedError(Reason.JWT_AUDIENCE)


def _check_time(claims: Mapping[str, Any], now: float) -> None:
    if now >= _moment(claims, "exp") + LEEWAY_SECONDS:
        raise RefusedError(Reason.JWT_EXPIRED)
    if _moment(claims, "iat") > now + LEEWAY_SECONDS:
        raise RefusedError(Reason.JWT_EARLY)
    if "nbf" in claims and _moment(claims, "nbf") > now + LEEWAY_SECONDS:
        raise RefusedError(Reason.JWT_EARLY)


def _moment(claims: Mapping[str, Any], name: str) -> float:
    value: object = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LATEST:
        raise RefusedError(Reason.JWT_CLAIMS, claim=name)
    return float(value)


def _text(claims: Mapping[str, Any], name: str) -> str:
    value: object = claims.get(name)
    if not isinstance(value, str) or not value:
        raise RefusedError(Reason.JWT_CLAIMS, claim=name)
    return value


def _texts(value: object) -> frozenset[str]:
    """Return a text as a list, or a list of texts; nothing for all other values."""
    if isinstance(value, str):
        return frozenset({value})
    if isinstance(value, list):
        entries = cast("list[object]", value)
        if all(isinstance(entry, str) for entry in entries):
            return frozenset(cast("list[str]", entries))
    return frozenset()
