"""The clock, which is passed to services. Only this module reads the machine's clock."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - this is the one place


def iso(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds, always 27 characters, so that text order is time order."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def iso_seconds(at: datetime) -> str:
    """ISO 8601 in UTC in whole seconds, always 20 characters."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def epoch_seconds(at: datetime) -> int:
    """Whole seconds since 1970, the format of DynamoDB's time to live."""
    return int(at.timestamp())
