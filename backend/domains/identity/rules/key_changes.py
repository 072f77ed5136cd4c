"""Rules of changing and creating API keys: no disabled key is enabled by its owner or by itself.

A stolen key must not outlive its end by an administrator, so neither its user nor the key itself
can extend or enable it again, and the keys created with it end with it.
"""

from datetime import datetime, timedelta

from backend.core.errors import InvalidInputError, PermissionDeniedError
from backend.core.identity import Identity
from backend.domains.identity.models.keys import ApiKey, UpdateApiKeyBody
from backend.domains.identity.rules.keys import expires_later

MAX_OWN_DAYS = 365
"""Maximum validity of keys that users create for themselves, as in VAMS."""

# Maximum number of a key's ancestors. The authorizer reads all of them with each request.
MAX_MAKERS = 8


def lineage_of(maker: ApiKey | None) -> list[str] | None:
    """Return `madeBy` of a key that this key creates; None for a key created with a token.

    Raises:
        PermissionDeniedError: too many keys would have created one another.
    """
    if maker is None:
        return None
    if len(maker.lineage) > MAX_MAKERS:
        raise PermissionDeniedError(
            f"A chain of API keys that create one another can have at most {MAX_MAKERS} keys"
        )
    return list(maker.lineage)


def first_expiry(wanted: str | None, maker: ApiKey | None) -> str:
    """Return the expiry of a new key: by default that of the key that creates it.

    Raises:
        InvalidInputError: the new key would end later than the key that creates it.
    """
    if maker is None:
        return wanted or ""
    if wanted is None:
        return maker.expires_at
    require_not_after([maker], wanted)
    return wanted


def require_not_after(makers: "list[ApiKey]", expires_at: str) -> None:
    """Require that a key with this expiry ends no later than the keys that created it.

    Raises:
        InvalidInputError: it would end later.
    """
    for maker in makers:
        if expires_later(expires_at, maker.expires_at):
            raise InvalidInputError.of(
                "expiresAt",
                (
                    "must not be later than the expiry of the key that creates it, "
                    f"{maker.expires_at}"
                ),
            )


def require_own_expiry(expires_at: str, created_at: str) -> None:
    """Require that a key of its user ends within a year after its creation.

    Raises:
        InvalidInputError: it would end later, or its creation is unknown.
    """
    try:
        end = datetime.fromisoformat(created_at) + timedelta(days=MAX_OWN_DAYS)
    except (ValueError, OverflowError):
        fact = "cannot be changed, because it is not known when the key was created"
        raise InvalidInputError.of("expiresAt", fact) from None
    last = end.date().isoformat()
    if expires_later(expires_at, last):
        raise InvalidInputError.of(
            "expiresAt",
            f"must not be later than {last}, {MAX_OWN_DAYS} days after the creation of the key",
        )


def require_permitted(
    key: ApiKey, body: UpdateApiKeyBody, caller: Identity, used: ApiKey | None
) -> None:
    """Require that this caller may make this change.

    Args:
        key: the key as it is stored.
        body: the change.
        caller: the user who makes it.
        used: the key that authenticated the request; None for a token.

    Raises:
        PermissionDeniedError: a session would be extended or enabled; a key would change itself, or
            a key that it descends from, other than to end it sooner; or an owner would extend or
            enable a key that another user ended.
    """
    enables = body.is_active == "true" and key.is_active != "true"
    extends = body.expires_at is not None and expires_later(body.expires_at, key.expires_at)
    reopens = enables or extends
    if reopens and key.kind == "session":
        raise PermissionDeniedError("A session cannot be extended or enabled; sign in again")
    changes_itself = used is not None and key.api_key_id in used.lineage
    if changes_itself and (reopens or body.description is not None):
        raise PermissionDeniedError(
            "An API key can only shorten its own validity or disable itself"
        )
    if reopens and caller.user_id == key.user_id and key.ended_by != caller.user_id:
        raise PermissionDeniedError(
            "The expiry of this key was set by someone else; its owner cannot extend it"
        )


def user_who_ended(key: ApiKey, body: UpdateApiKeyBody, caller: Identity) -> str | None:
    """Return who ended the key, as of this change; None if it is active and has no expiry."""
    if body.is_active is None and body.expires_at is None:
        return key.ended_by
    active = body.is_active or key.is_active
    expires_at = key.expires_at if body.expires_at is None else body.expires_at
    if active == "true" and not expires_at:
        return None
    by_other = (key.is_active != "true" or bool(key.expires_at)) and key.ended_by != key.user_id
    return key.ended_by if caller.user_id == key.user_id and by_other else caller.user_id
