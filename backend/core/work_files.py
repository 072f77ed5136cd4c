"""The port through which a function moves objects of any size to and from its local disk.

`backend/aws/work_files.py` implements it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class WorkFiles(Protocol):
    """Objects as files. All may raise UnavailableError."""

    def sizes(self, bucket: str, prefix: str, *, most: int) -> Mapping[str, int]:
        """Return the sizes of the current objects below a prefix, by key without the prefix.

        At most the first `most` of them.
        """
        ...

    def size(self, bucket: str, key: str, version_id: str | None) -> int:
        """Return the size of one version of an object; without `version_id`, of the latest.

        Raises:
            NotFoundError: there is no such version.
        """
        ...

    def download(self, bucket: str, key: str, version_id: str | None, path: Path) -> None:
        """Write one version of an object to a file.

        Raises:
            NotFoundError: there is no such version.
            NotRestoredError: it is in an archive class.
        """
        ...

    def check_readable(self, bucket: str, key: str, version_id: str | None) -> None:
        """Check whether a version could be downloaded.

        Raises:
            NotFoundError: there is no such version.
            NotRestoredError: it is in an archive class.
        """
        ...

    def url(self, bucket: str, key: str, version_id: str | None, *, seconds: int) -> str:
        """Return a URL that reads one version of an object for some time."""
        ...

    def url_to_write(
        self, bucket: str, key: str, *, content_type: str, seconds: int
    ) -> tuple[str, Mapping[str, str]]:
        """Return a URL that creates an object once, and the headers that the PUT must have."""
        ...

    def upload(self, path: Path, bucket: str, key: str, *, content_type: str) -> None:
        """Write a file to an object of at most 5 GB."""
        ...
