"""The port to S3. `backend/aws/objects.py` implements it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from backend.core.errors import ConflictError, StateForbidsError

if TYPE_CHECKING:
    from backend.core.file_kinds import Serving


# S3's limit of keys in one request: of a listing, and of a deletion.
MAX_BATCH = 1000
UNVERSIONED = "null"
"""The version id, in S3, of an object in a bucket without versioning."""
NO_TAGS: Mapping[str, str] = MappingProxyType({})


class ObjectRefusedError(ConflictError):
    """The object store rejected the request; the message gives its reason.

    Stores differ: one that stores keys as paths rejects `a/b` next to an object `a`.
    """

    code = "ObjectRefused"

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"The object store rejected {key}: {reason}")
        self.reason = reason


class NotRestoredError(StateForbidsError):
    """S3 has moved the file to an archive storage class; restore it in S3 first."""

    code = "FileNotRestored"

    def __init__(self) -> None:
        super().__init__(
            "The file is in an S3 archive storage class (GLACIER, DEEP_ARCHIVE, or an "
            "archive tier of INTELLIGENT_TIERING): restore it in S3 before reading or "
            "copying it"
        )


class ObjectRef(NamedTuple):
    """An object, by the name of its bucket and its key."""

    bucket: str
    key: str


class VersionRef(NamedTuple):
    """A version of an object in a known bucket."""

    key: str
    version_id: str


class ObjectVersion(NamedTuple):
    """One version of an object; a delete marker has no size and no ETag."""

    key: str
    version_id: str
    is_latest: bool
    last_modified: datetime
    size: int = 0
    etag: str = ""
    storage_class: str = "STANDARD"
    is_delete_marker: bool = False

    @property
    def ref(self) -> VersionRef:
        return VersionRef(self.key, self.version_id)


class ObjectHead(NamedTuple):
    """The result of HEAD for one version. `metadata` is the user metadata, with keys in lower case.

    `needs_restore` is true if the object must be restored before it can be read. `tag_count` is the
    number of its tags.
    """

    version: ObjectVersion
    content_type: str
    metadata: Mapping[str, str]
    needs_restore: bool = False
    tag_count: int = 0

    def check_restored(self) -> None:
        """Require that the object can be read.

        Raises:
            NotRestoredError: the object is in an archive storage class.
        """
        if self.needs_restore:
            raise NotRestoredError


class Written(NamedTuple):
    """The result of a write. `version_id` is `null` in a bucket without versioning."""

    version_id: str
    etag: str


class Part(NamedTuple):
    """A part of a multipart upload, with its size in bytes."""

    number: int
    etag: str
    size: int = 0


class OpenUpload(NamedTuple):
    """A multipart upload that was started, and neither completed nor aborted."""

    key: str
    upload_id: str


class Start(NamedTuple):
    """The first bytes of an object, and the version from which they were read."""

    version: ObjectVersion
    content: bytes


class VersionPage(NamedTuple):
    """Versions in S3's order (key, then newest first), and the position of the next page."""

    versions: tuple[ObjectVersion, ...]
    next_key: str | None = None
    next_version_id: str | None = None


class ObjectPage(NamedTuple):
    """Current objects in key order. The next page begins after `next_key`."""

    objects: tuple[ObjectVersion, ...]
    next_key: str | None = None


class Objects(Protocol):
    """Objects of any bucket. All may raise UnavailableError.

    For a missing key, a method returns `None` or raises NotFoundError, as documented.
    """

    def head(
        self, bucket: str, key: str, *, version_id: str | None = None
    ) -> ObjectHead | ObjectVersion | None:
        """Return the head of the version, its delete marker, or None if it never existed."""
        ...

    def tags(self, bucket: str, key: str, *, version_id: str) -> Mapping[str, str]:
        """Return the tags of one version, at most ten.

        Raises:
            NotFoundError: there is no such version.
        """
        ...

    def list_objects(
        self, bucket: str, prefix: str, *, limit: int = 1000, after: str | None = None
    ) -> ObjectPage:
        """List the current objects below a prefix, without deleted ones."""
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
        """Return the first bytes of an object; none of an empty object.

        Raises:
            NotFoundError: the object does not exist.
        """
        ...

    def read_version(self, bucket: str, key: str, *, length: int) -> Start:
        """As `read_start`, for a specific version.

        Raises:
            NotFoundError: the object does not exist.
        """
        ...

    def read_chunks(self, bucket: str, key: str) -> Iterator[bytes]:
        """Yield the bytes of an object in pieces, which are read while they are consumed.

        Raises:
            NotFoundError: the object does not exist.
        """
        ...

    def put(
        self, bucket: str, key: str, body: bytes, *, content_type: str, metadata: Mapping[str, str]
    ) -> Written:
        """Write an object, as a new version.

        Raises:
            ObjectRefusedError: the store does not accept this key.
        """
        ...

    def copy(
        self,
        source: ObjectRef,
        target: ObjectRef,
        *,
        content_type: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str] = NO_TAGS,
        version_id: str | None = None,
    ) -> Written:
        """Copy an object inside S3, as a new version; at most 5 GiB.

        `version_id` is that of the source; without it, its current version is copied. The copy
        has only these tags.

        Raises:
            NotFoundError: the source does not exist.
            ObjectRefusedError: the store does not accept this key.
        """
        ...

    def delete(self, bucket: str, key: str) -> None:
        """Add a delete marker; in a bucket without versioning the object is deleted."""
        ...

    def delete_version(self, bucket: str, key: str, *, version_id: str) -> None:
        """Remove one version permanently."""
        ...

    def delete_many(self, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        """Delete keys with their version ids, a thousand per request; missing ones are ignored.

        For a key without a version id a delete marker is added, even if the newest version is one.

        Raises:
            ObjectRefusedError: the store did not delete one of them; others may be deleted.
        """
        ...

    def list_multiparts(self, bucket: str, prefix: str, *, limit: int = 1000) -> list[OpenUpload]:
        """List the first multipart uploads to keys below a prefix, in key order.

        There is no next page: to list all of them, abort these and list again.
        """
        ...

    def create_multipart(
        self,
        bucket: str,
        key: str,
        *,
        content_type: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str] = NO_TAGS,
    ) -> str:
        """Start a multipart upload and return S3's upload id.

        Raises:
            ObjectRefusedError: the store does not accept this key.
        """
        ...

    def copy_part(
        self,
        source: ObjectRef,
        target: ObjectRef,
        *,
        upload_id: str,
        number: int,
        span: tuple[int, int],
        version_id: str | None = None,
    ) -> Part:
        """Copy bytes of another object into a part.

        `span` is the first byte and the one after the last.

        `version_id` is that of the source; without it, its current version is read. S3 requires at
        least 5 MiB, except for the last part, and at most 5 GiB.

        Raises:
            NotFoundError: the source or the upload does not exist.
            ObjectRefusedError: the source is shorter than the range.
        """
        ...

    def list_parts(self, bucket: str, key: str, upload_id: str) -> list[Part]:
        """List all stored parts, with as many requests as necessary.

        Raises:
            NotFoundError: the upload was aborted, completed or never started.
        """
        ...

    def complete_multipart(
        self, bucket: str, key: str, upload_id: str, parts: Sequence[Part]
    ) -> Written:
        """Create an object from parts.

        Raises:
            NotFoundError: the upload was aborted, completed or never started.
            ObjectRefusedError: a part is missing, differs or is too small, or the key is not
                accepted.
        """
        ...

    def abort_multipart(self, bucket: str, key: str, upload_id: str) -> None:
        """Abort a multipart upload; no effect if it no longer exists."""
        ...

    def presign_part(
        self, bucket: str, key: str, *, upload_id: str, number: int, expires: int
    ) -> str:
        """Return a presigned URL to PUT one part."""
        ...

    def presign_put(self, bucket: str, key: str, *, expires: int) -> str:
        """Return a presigned URL to PUT a whole object as a new version."""
        ...

    def presign_get(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None,
        serving: "Serving",
        expires: int,
    ) -> str:
        """Return a presigned URL to GET one object. The signature covers type and disposition."""
        ...


def key_before(key: str) -> str:
    """Return a text just below a key, for listings after a text that must include the key."""
    before = ord(key[-1]) - 1
    if before < 0x20 or 0xD800 <= before <= 0xDFFF:  # control characters, surrogates
        return key[:-1]
    return f"{key[:-1]}{chr(before)}~"
