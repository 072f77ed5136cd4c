"""The port to objects that are changed only while nobody else has changed them.

`backend/aws/guarded_objects.py` implements it. What is read and written without such a condition
goes through `core.objects`.
"""

from typing import Protocol


class GuardedObjects(Protocol):
    """Writes under the condition of an ETag. All may raise UnavailableError."""

    def replace(self, bucket: str, key: str, body: bytes, *, etag: str, content_type: str) -> bool:
        """Write an object again if it still has this ETag; False if it has not, or is gone."""
        ...

    def delete(self, bucket: str, key: str, *, etag: str) -> bool:
        """Delete an object if it still has this ETag; False if it has another one.

        Of one that is gone already, stores answer either.
        """
        ...
