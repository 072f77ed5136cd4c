"""Parses events about executions. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from backend.core.deliveries import read_body
from backend.domains.executions.models import EndStatus
from backend.domains.executions.models.events import (
    FailureEvent,
    StatusDetail,
    StatusEvent,
    UploadedObject,
    UploadEvent,
)
from backend.domains.facts.models import FailedInspection

ENDS: Mapping[str, EndStatus] = {
    "SUCCEEDED": "SUCCEEDED",
    "FAILED": "FAILED",
    "TIMED_OUT": "TIMED_OUT",
    "ABORTED": "ABORTED",
}
_LATEST = 253_402_300_799_000  # the last millisecond that a time can represent


def status_change(message: Mapping[str, Any]) -> StatusDetail:
    """Return the change of status in a message of the queue.

    Raises:
        InvalidEventError: the message contains none.
    """
    return read_body(StatusEvent, message).detail


def upload_or_failure(message: Mapping[str, Any]) -> UploadedObject | FailedInspection:
    """Return the object that a message of the queue names, or the inspection that failed.

    Raises:
        InvalidEventError: it names none.
    """
    failed = read_body(FailureEvent, message).failed_inspection
    if failed is not None:
        return failed
    detail = read_body(UploadEvent, message).detail
    return UploadedObject(detail.bucket.name, detail.object.key, detail.renewal)


def upload_message(upload: UploadedObject) -> dict[str, Any]:
    """Return a message that names an object, in the form of S3's events."""
    return {"detail": {"bucket": {"name": upload.bucket}, "object": {"key": upload.key}}}


def failure_message(failed: FailedInspection) -> dict[str, Any]:
    """Return a message about an inspection that failed."""
    return FailureEvent(failed_inspection=failed).model_dump(by_alias=True)


def time_of(milliseconds: int | None) -> datetime | None:
    """Convert milliseconds since 1970 to a time; None if that is impossible."""
    if milliseconds is None or not 0 <= milliseconds <= _LATEST:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
