"""Which prefixes of a bucket may hold assets. Pure."""

from collections.abc import Iterable


def overlapping(key_prefix: str, others: Iterable[str]) -> str | None:
    """The first of the other prefixes that is the same, contains this one or lies in it."""
    return next(
        (one for one in others if one.startswith(key_prefix) or key_prefix.startswith(one)), None
    )
