"""The port for objects that are changed only if no one else has changed them.

`backend/aws/guarded_objects.py` implements it. `core.objects` is for access without this condition.
"""

from typing import Protocol


class GuardedObjects(Protocol):
    """Writes under the condition of an ETag. All may raise UnavailableError."""

    def replace(self, bucket: str, key: str, body: bytes, *, etag: str, content_type: str) -> bool:
        """Replace an object if it still has this ETag; False if it was changed or deleted."""
        ...

    def delete(self, bucket: str, key: str, *, etag: str) -> bool:
        """Delete an object if it still has this ETag; return False if it changed.

        For an object that does not exist, the result depends on the store.
        """
        ...
