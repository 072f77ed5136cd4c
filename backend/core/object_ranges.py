"""The port to bytes in the middle of objects. `backend/aws/object_ranges.py` implements it."""

from typing import Protocol


class ObjectRanges(Protocol):
    """Parts of objects of any bucket. All may raise UnavailableError."""

    def read(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None,
        etag: str,
        span: tuple[int, int],
    ) -> bytes | None:
        """Bytes of a version, or of the current one; `span` is the first and the one after.

        None if the object is not there any more, or has another ETag now.
        """
        ...
