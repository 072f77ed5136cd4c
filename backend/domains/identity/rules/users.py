"""The user ids that credentials may name."""

import unicodedata

from backend.core.identity import ANONYMOUS, SYSTEM
from backend.core.invisible import check_visible
from backend.core.names import check_user_id
from backend.core.user_pool import PoolUser
from backend.domains.identity.rules.refusals import Reason, RefusedError

_RESERVED = frozenset(identity.user_id.casefold() for identity in (ANONYMOUS, SYSTEM))


def has_prefix(user_id: str, prefix: str) -> bool:
    """Return whether a user id belongs to the provider with this prefix.

    None does without a prefix.

    Case is ignored.
    """
    # Ids that differ only in case look like one user's.
    return bool(prefix) and user_id.casefold().startswith(prefix.casefold())


def ended_in_pool(user: PoolUser | None, *, in_pool: bool) -> bool:
    """Return whether the pool disabled a user, or deleted one that was `in_pool`."""
    return in_pool if user is None else not user.enabled


def check_usable(user_id: object) -> str:
    """Return the user id, if roles can be assigned to it.

    Raises:
        RefusedError: the id is invalid or reserved.
    """
    if not isinstance(user_id, str):
        raise RefusedError(Reason.USER)
    try:
        check_visible(check_user_id(user_id))
    except ValueError:
        raise RefusedError(Reason.USER) from None
    # The product acts under reserved names. An id with another compatible spelling would look like
    # another user's.
    if user_id.casefold() in _RESERVED or unicodedata.normalize("NFKC", user_id) != user_id:
        raise RefusedError(Reason.USER)
    return user_id
