"""The port to S3. `backend/aws/objects.py` implements it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One version of an object; a delete marker has no size and no ETag."""

    key: str
    version_id: str
    is_latest: bool
    last_modified: datetime
    size: int = 0
    etag: str = ""
    storage_class: str = "STANDARD"
    is_delete_marker: bool = False


@dataclass(frozen=True, slots=True)
class ObjectHead:
    """What HEAD tells of one version; `metadata` is the user metadata, keys in lower case."""

    version: ObjectVersion
    content_type: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a multipart upload; `size` in bytes as S3 holds it."""

    number: int
    etag: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class VersionPage:
    """Versions in S3's order (key, then newest first) and where the next page begins."""

    versions: tuple[ObjectVersion, ...]
    next_key: str | None = None
    next_version_id: str | None = None


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """Current objects in key order; `next_key` is the key to go on after."""

    objects: tuple[ObjectVersion, ...]
    next_key: str | None = None


class Objects(Protocol):
    """Objects of any bucket. All may raise UnavailableError.

    A key that is absent is `None` or a NotFoundError, as each says.
    """

    def head(
        self, bucket: str, key: str, *, version_id: str | None = None
    ) -> ObjectHead | ObjectVersion | None:
        """The version asked for: a head, the marker if it is deleted, None if it never was."""
        ...

    def list_objects(
        self, bucket: str, prefix: str, *, limit: int = 1000, after: str | None = None
    ) -> ObjectPage:
        """Current objects below a prefix (delete-marked ones are left out)."""
        ...

    def list_versions(
        self,
        bucket: str,
        prefix: str,
        *,
        limit: int = 1000,
        after_key: str | None = None,
        after_version_id: str | None = None,
    ) -> VersionPage: ...

    def read_start(self, bucket: str, key: str, *, length: int) -> bytes:
        """The first bytes of an object."""
        ...

    def put(
        self, bucket: str, key: str, body: bytes, *, content_type: str, metadata: Mapping[str, str]
    ) -> ObjectVersion: ...

    def copy(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        *,
        content_type: str,
        metadata: Mapping[str, str],
    ) -> ObjectVersion:
        """Copy (bucket, key) to (bucket, key) inside S3; at most 5 GiB."""
        ...

    def delete_version(self, bucket: str, key: str, *, version_id: str) -> None:
        """Remove one version for good."""
        ...

    def create_multipart(
        self, bucket: str, key: str, *, content_type: str, metadata: Mapping[str, str]
    ) -> str:
        """Start a multipart upload; answers with S3's upload id."""
        ...

    def list_parts(self, bucket: str, key: str, upload_id: str) -> list[Part]:
        """All parts that S3 holds, over as many pages as that takes.

        Raises:
            NotFoundError: S3 knows no such upload (aborted, completed or never started).
        """
        ...

    def complete_multipart(
        self, bucket: str, key: str, upload_id: str, parts: Sequence[Part]
    ) -> ObjectVersion: ...

    def abort_multipart(self, bucket: str, key: str, upload_id: str) -> None:
        """Give up; an upload that S3 no longer knows is already given up."""
        ...

    def presign_part(
        self, bucket: str, key: str, *, upload_id: str, number: int, expires: int
    ) -> str:
        """A URL to PUT one part to."""
        ...

    def presign_get(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None,
        file_name: str,
        content_type: str,
        attachment: bool,
        expires: int,
    ) -> str:
        """A URL to GET one object from, with type and disposition decided here."""
        ...
