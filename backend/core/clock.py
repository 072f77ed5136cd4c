"""The clock, which is passed to services. Only this module reads the machine's clock."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - this is the one place


def iso(at: datetime) -> str:
    """Format a time in ISO 8601 with microseconds."""
    # Always 27 characters, with the microseconds: the order of the texts is that of the times.
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def iso_seconds(at: datetime) -> str:
    """Format a time in ISO 8601 in whole seconds, always 20 characters."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def epoch_seconds(at: datetime) -> int:
    """Return whole seconds since 1970, the format of DynamoDB's time to live."""
    return int(at.timestamp())
