"""Who asks. The authorizer establishes it; rights are never part of it."""

from typing import NamedTuple


class Identity(NamedTuple):
    """An authenticated caller.

    `mfa` says whether a second factor was given; `email` is the address that the credentials name.
    `api_key_id` is the API key that authenticated the request; None for a token. `subject` is the
    `sub` of a token whose user id is another one: clients know their user by it.
    """

    user_id: str
    mfa: bool = False
    email: str | None = None
    api_key_id: str | None = None
    subject: str | None = None


OUTAGE_MARK = "outage"
"""Stands in the authorizer's context instead of an identity when it could not ask who calls."""

SYSTEM = Identity("SYSTEM")
"""The product itself, where no user asked (bootstrap, sync)."""

ANONYMOUS = Identity("anonymous")
"""Whoever uses a public route, with credentials or without."""
