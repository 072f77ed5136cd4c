"""Parses events about executions. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from backend.core.field_errors import field_errors
from backend.domains.executions.models import EndStatus
from backend.domains.executions.models.events import (
    StatusDetail,
    StatusEvent,
    UploadedObject,
    UploadEvent,
)

M = TypeVar("M", bound=BaseModel)
ENDS: Mapping[str, EndStatus] = {
    "SUCCEEDED": "SUCCEEDED",
    "FAILED": "FAILED",
    "TIMED_OUT": "TIMED_OUT",
    "ABORTED": "ABORTED",
}
_LATEST = 253_402_300_799_000  # the last millisecond that a time can represent


class NotUnderstoodError(Exception):
    """A message contains no valid event; the text is the reason."""


def status_change(message: Mapping[str, Any]) -> StatusDetail:
    """Return the change of status in a message of the queue.

    Raises:
        NotUnderstoodError: the message contains none.
    """
    return _read(StatusEvent, message).detail


def uploaded_object(message: Mapping[str, Any]) -> UploadedObject:
    """Return the object that a message of the queue names.

    Raises:
        NotUnderstoodError: it names none.
    """
    detail = _read(UploadEvent, message).detail
    return UploadedObject(detail.bucket.name, detail.object.key, detail.renewal)


def again(upload: UploadedObject) -> dict[str, Any]:
    """Return a message that names an object, in the form of S3's events."""
    return {"detail": {"bucket": {"name": upload.bucket}, "object": {"key": upload.key}}}


def time_of(milliseconds: int | None) -> datetime | None:
    """Convert milliseconds since 1970 to a time; None if that is impossible."""
    if milliseconds is None or not 0 <= milliseconds <= _LATEST:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _read(model: type[M], message: Mapping[str, Any]) -> M:
    try:
        return model.model_validate_json(message["body"])
    except KeyError:
        raise NotUnderstoodError("the message has no body") from None
    except ValidationError as error:
        first = next(field_errors(error, None, place="body"))
        raise NotUnderstoodError(f"{first.field}: {first.message}") from error
