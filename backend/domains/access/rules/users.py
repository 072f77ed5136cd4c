"""Which user ids credentials may name."""

import unicodedata

from backend.core.identity import ANONYMOUS, SYSTEM
from backend.core.names import check_user_id
from backend.domains.access.rules.refusals import Reason, RefusedError

_RESERVED = frozenset(each.user_id.casefold() for each in (ANONYMOUS, SYSTEM))


def has_prefix(user_id: str, prefix: str) -> bool:
    """Return whether a user id belongs to the provider with this prefix; none does without one.

    Compared without case: ids that differ only in case look like one user's.
    """
    return bool(prefix) and user_id.casefold().startswith(prefix.casefold())


def demand_usable(user_id: object) -> str:
    """The user id, if roles can be given to it.

    The product acts under names of its own, which nobody else may have. An id that has another,
    compatible spelling would look like another user's in every list.

    Raises:
        RefusedError: it is none, or is not to be used by anybody.
    """
    if not isinstance(user_id, str):
        raise RefusedError(Reason.USER)
    try:
        check_user_id(user_id)
    except ValueError:
        raise RefusedError(Reason.USER) from None
    if user_id.casefold() in _RESERVED or unicodedata.normalize("NFKC", user_id) != user_id:
        raise RefusedError(Reason.USER)
    return user_id
