"""The prefixes of a bucket that may contain assets. Pure."""

from collections.abc import Iterable


def find_overlapping(key_prefix: str, others: Iterable[str]) -> str | None:
    """Return the first of the other prefixes that equals this one, contains it, or is inside it."""
    return next(
        (other for other in others if other.startswith(key_prefix) or key_prefix.startswith(other)),
        None,
    )
