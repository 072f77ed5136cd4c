"""The bytes of a file that a request gets, and whether it needs them (RFC 9110, 13 and 14). Pure.

A `Range` is used only if it names one range of bytes. Several ranges, other units and malformed
ones are ignored, as the RFC allows: the reply is the whole file.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime

from backend.core.errors import RangeError
from backend.values import frozen

# Maximum size of a streamed reply. In base64 it is below the 6 MB of a Lambda function.
STREAMED_BYTES = 4_400_000

_RANGE = re.compile(r"bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*", re.IGNORECASE)
_ENTITY_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\U0010ffff]*"')
_MAX_DIGITS = 18  # no object is so long; Python refuses to parse thousands of digits
# Beyond the end of any object.
_UNKNOWN_LENGTH = 10**_MAX_DIGITS


@frozen
class Wanted:
    """The conditional and range headers of a request."""

    range: str | None = None
    if_range: str | None = None
    if_none_match: str | None = None
    if_modified_since: str | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "Wanted":
        """Return them from a request, whose header names are in lower case."""
        return cls(
            range=headers.get("range"),
            if_range=headers.get("if-range"),
            if_none_match=headers.get("if-none-match"),
            if_modified_since=headers.get("if-modified-since"),
        )


@frozen
class Validators:
    """Validators of a file's content: the ETag in quotes, and the time of the change."""

    etag: str
    modified: datetime

    @property
    def modified_text(self) -> str:
        return format_datetime(self.modified.astimezone(UTC), usegmt=True)


def is_known(wanted: Wanted, now: Validators) -> bool:
    """Return whether the client already has this content."""
    if wanted.if_none_match is not None:
        if wanted.if_none_match.strip() == "*":
            return True
        known = _ENTITY_TAG.findall(wanted.if_none_match)
        return now.etag in {tag.removeprefix("W/") for tag in known}
    since = _time(wanted.if_modified_since)
    # Subtracted from our own time: `since` may be the last time that can be represented.
    return since is not None and now.modified - timedelta(seconds=1) < since


def wanted_span(wanted: Wanted, now: Validators, size: int) -> tuple[int, int] | None:
    """Return the first requested byte and the one after the last; None for the whole file.

    Raises:
        RangeError: the range is outside the file.
    """
    if wanted.range is None or not _is_same(wanted.if_range, now):
        return None
    match = _RANGE.fullmatch(wanted.range.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(_number(match[2]), size)
        span = size - length, size
    else:
        first, last = _number(match[1]), _number(match[2]) if match[2] else _UNKNOWN_LENGTH
        if last < first:
            return None
        span = first, min(last + 1, size)
    if span[0] >= span[1]:
        raise RangeError(f"The file has {size} bytes", size=size)
    return span


def _is_same(if_range: str | None, now: Validators) -> bool:
    """Return whether the client's content is the same, so that ranges fit."""
    if if_range is None:
        return True
    text = if_range.strip()
    # RFC 9110, section 13.1.5: a weak ETag never matches in If-Range. Ours are strong.
    if _ENTITY_TAG.fullmatch(text):
        return text == now.etag
    return _time(text) == now.modified.replace(microsecond=0)


def _time(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text) if text else None
    except (ValueError, OverflowError):
        return None
    if date is None or date.tzinfo is not None:
        return date
    return date.replace(tzinfo=UTC)


def _number(digits: str) -> int:
    text = digits.lstrip("0")
    return _UNKNOWN_LENGTH if len(text) > _MAX_DIGITS else int(text or "0")
