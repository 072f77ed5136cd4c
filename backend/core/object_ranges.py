"""The port to bytes in the middle of objects. `backend/aws/object_ranges.py` implements it."""

from typing import Protocol


class ObjectRanges(Protocol):
    """Reads parts of objects of any bucket. All may raise UnavailableError."""

    def read(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None,
        etag: str,
        span: tuple[int, int],
    ) -> bytes | None:
        """Return bytes of a version, or of the current one.

        `span` is the first byte and the one after the last.

        None if the object no longer exists or has another ETag.
        """
        ...
