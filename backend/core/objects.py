"""The port to S3. `backend/aws/objects.py` implements it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from backend.core.errors import ConflictError, StateForbidsError

if TYPE_CHECKING:
    from backend.core.file_kinds import Serving


NO_TAGS: Mapping[str, str] = MappingProxyType({})


class ObjectRefusedError(ConflictError):
    """The object store rejected the request; the message gives its reason.

    Stores differ: one that keeps keys as paths refuses `a/b` beside an object `a`.
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


class ObjectHead(NamedTuple):
    """What HEAD returns of one version; `metadata` is the user metadata, keys in lower case.

    `needs_restore`: the store cannot read it at once. `tag_count`: how many tags it has.
    """

    version: ObjectVersion
    content_type: str
    metadata: Mapping[str, str]
    needs_restore: bool = False
    tag_count: int = 0

    def demand_restored(self) -> None:
        """Go on only if the store can read the object.

        Raises:
            NotRestoredError: it is in an archive class.
        """
        if self.needs_restore:
            raise NotRestoredError


class Written(NamedTuple):
    """What a write made; `version_id` is `null` in a bucket without versioning."""

    version_id: str
    etag: str


class Part(NamedTuple):
    """A part of a multipart upload; `size` in bytes as S3 holds it."""

    number: int
    etag: str
    size: int = 0


class OpenUpload(NamedTuple):
    """A multipart upload that was begun, and neither completed nor given up."""

    key: str
    upload_id: str


class Start(NamedTuple):
    """The first bytes of an object, and the version that they are of."""

    version: ObjectVersion
    content: bytes


class VersionPage(NamedTuple):
    """Versions in S3's order (key, then newest first) and where the next page begins."""

    versions: tuple[ObjectVersion, ...]
    next_key: str | None = None
    next_version_id: str | None = None


class ObjectPage(NamedTuple):
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

    def tags(self, bucket: str, key: str, *, version_id: str) -> Mapping[str, str]:
        """Return the tags of one version, at most ten.

        Raises:
            NotFoundError: there is no such version.
        """
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
        """The first bytes of an object; none of an empty one.

        Raises:
            NotFoundError: there is no such object.
        """
        ...

    def read_version(self, bucket: str, key: str, *, length: int) -> Start:
        """As `read_start`, with the version that was read.

        Raises:
            NotFoundError: there is no such object.
        """
        ...

    def read_chunks(self, bucket: str, key: str) -> Iterator[bytes]:
        """The bytes of an object in pieces that fit memory, read while they are consumed.

        Raises:
            NotFoundError: there is no such object.
        """
        ...

    def put(
        self, bucket: str, key: str, body: bytes, *, content_type: str, metadata: Mapping[str, str]
    ) -> Written:
        """Write an object, as a new version.

        Raises:
            ObjectRefusedError: the store does not take it under this key.
        """
        ...

    def copy(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        *,
        content_type: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str] = NO_TAGS,
        version_id: str | None = None,
    ) -> Written:
        """Copy (bucket, key) to (bucket, key) inside S3, as a new version; at most 5 GiB.

        `version_id` is that of the source; without it, its current version is copied. The copy has
        the given tags only.

        Raises:
            NotFoundError: there is no such source.
            ObjectRefusedError: the store does not take it under this key.
        """
        ...

    def delete(self, bucket: str, key: str) -> None:
        """Put a delete marker; in a bucket without versioning the object is gone."""
        ...

    def delete_version(self, bucket: str, key: str, *, version_id: str) -> None:
        """Remove one version for good."""
        ...

    def delete_many(self, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        """Delete keys with their version ids, a thousand a request; what is gone already is fine.

        Without a version id a key gets a delete marker; where it has one, a further one.

        Raises:
            ObjectRefusedError: the store keeps one of them, others of its request are deleted.
        """
        ...

    def list_multiparts(self, bucket: str, prefix: str, *, limit: int = 1000) -> list[OpenUpload]:
        """Multipart uploads to keys below a prefix, the first ones in the order of their keys.

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
        """Start a multipart upload; answers with S3's upload id.

        Raises:
            ObjectRefusedError: the store does not take this key.
        """
        ...

    def copy_part(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        *,
        upload_id: str,
        number: int,
        span: tuple[int, int],
        version_id: str | None = None,
    ) -> Part:
        """Make a part of bytes of another object; `span` is the first byte and the one after.

        `version_id` is that of the source; without it, its current version is read.

        S3 wants at least 5 MiB, but of the last part, and takes 5 GiB at the most.

        Raises:
            NotFoundError: there is no such source, or S3 knows no such upload.
            ObjectRefusedError: the source does not reach so far.
        """
        ...

    def list_parts(self, bucket: str, key: str, upload_id: str) -> list[Part]:
        """All parts that S3 holds, over as many pages as that takes.

        Raises:
            NotFoundError: S3 knows no such upload (aborted, completed or never started).
        """
        ...

    def complete_multipart(
        self, bucket: str, key: str, upload_id: str, parts: Sequence[Part]
    ) -> Written:
        """Make an object of parts.

        Raises:
            NotFoundError: S3 knows no such upload (aborted, completed or never started).
            ObjectRefusedError: a part is missing, differs or is too small, or the key is not taken.
        """
        ...

    def abort_multipart(self, bucket: str, key: str, upload_id: str) -> None:
        """Give up; an upload that S3 no longer knows is already given up."""
        ...

    def presign_part(
        self, bucket: str, key: str, *, upload_id: str, number: int, expires: int
    ) -> str:
        """A URL to PUT one part to."""
        ...

    def presign_put(self, bucket: str, key: str, *, expires: int) -> str:
        """A URL to PUT a whole object to, as a new version."""
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
        """A URL to GET one object from; type and disposition are part of what is signed."""
        ...


def just_below(key: str) -> str:
    """A text a little less than the key, for listings that begin after a text and not with it."""
    before = ord(key[-1]) - 1
    if before < 0x20 or 0xD800 <= before <= 0xDFFF:  # control characters, surrogates
        return key[:-1]
    return f"{key[:-1]}{chr(before)}~"
