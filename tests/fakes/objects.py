"""S3 in memory: versioned buckets, multipart uploads, URLs whose requests `receive` handles.

The contract suite of the real stores also tests it (`tests/contract/objects`).
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import quote, unquote, urlsplit

from backend.core.clock import Clock
from backend.core.errors import NotFoundError
from backend.core.file_kinds import Serving
from backend.core.objects import (
    NO_TAGS,
    UNVERSIONED,
    ObjectHead,
    ObjectPage,
    ObjectRef,
    ObjectRefusedError,
    ObjectVersion,
    OpenUpload,
    Part,
    Start,
    VersionPage,
    Written,
)

_CHUNK_BYTES = 1024 * 1024
_LEAST_PART_BYTES = 5 * 1024 * 1024


def _epoch() -> datetime:
    return datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Stored:
    version: ObjectVersion
    body: bytes = b""
    content_type: str = "application/octet-stream"
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    tags: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass
class _Multipart:
    bucket: str
    key: str
    content_type: str
    metadata: Mapping[str, str]
    tags: Mapping[str, str]
    parts: dict[int, bytes] = field(default_factory=dict[int, bytes])


@dataclass
class MemoryObjects:
    """The port `Objects`.

    `changed` is called with bucket and key of each created or removed object.
    """

    before: Callable[[str], None] = lambda operation: None
    changed: Callable[[str, str], None] = lambda bucket, key: None
    clock: Clock = _epoch
    versioned: Callable[[str], bool] = lambda bucket: True
    buckets: dict[str, dict[str, list[_Stored]]] = field(
        default_factory=dict[str, dict[str, list[_Stored]]]
    )
    uploads: dict[str, _Multipart] = field(default_factory=dict[str, _Multipart])
    made: int = 0
    archived: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Bucket and key of objects in an archive storage class."""

    def head(
        self, bucket: str, key: str, *, version_id: str | None = None
    ) -> ObjectHead | ObjectVersion | None:
        self.before("head")
        for stored in self._versions(bucket, key):
            if version_id in {None, stored.version.version_id}:
                if stored.version.is_delete_marker:
                    return stored.version
                result = stored.version._replace(is_latest=version_id is None)
                needs_restore = (bucket, key) in self.archived
                metadata = dict(stored.metadata)
                return ObjectHead(
                    result, stored.content_type, metadata, needs_restore, len(stored.tags)
                )
        return None

    def tags(self, bucket: str, key: str, *, version_id: str) -> Mapping[str, str]:
        self.before("tags")
        return self._existing(bucket, key, version_id).tags

    def tag(self, bucket: str, key: str, tags: Mapping[str, str]) -> None:
        """Replace the tags of the current version, as a user of S3 does."""
        stored = self._versions(bucket, key)
        stored[0] = replace(stored[0], tags=tags)

    def list_objects(
        self, bucket: str, prefix: str, *, limit: int = 1000, after: str | None = None
    ) -> ObjectPage:
        self.before("list")
        result = [
            stored[0].version._replace(version_id="")
            for key, stored in self._listed(bucket, prefix)
            if not stored[0].version.is_delete_marker and (after is None or key > after)
        ]
        page = tuple(result[:limit])
        return ObjectPage(page, page[-1].key if len(result) > limit else None)

    def list_versions(
        self,
        bucket: str,
        prefix: str,
        *,
        limit: int = 1000,
        after_key: str | None = None,
        after_version_id: str | None = None,
    ) -> VersionPage:
        self.before("list")
        versions = [item.version for _, stored in self._listed(bucket, prefix) for item in stored]
        if after_key is not None:
            versions = versions[_passed(versions, after_key, after_version_id) :]
        page = tuple(versions[:limit])
        if len(versions) <= limit:
            return VersionPage(page)
        return VersionPage(page, page[-1].key, page[-1].version_id)

    def read_start(self, bucket: str, key: str, *, length: int) -> bytes:
        self.before("read")
        return self._body(bucket, key)[:length]

    def read_version(self, bucket: str, key: str, *, length: int) -> Start:
        self.before("read")
        stored = self._existing(bucket, key, None)
        return Start(stored.version, stored.body[:length])

    def read_chunks(self, bucket: str, key: str) -> Iterator[bytes]:
        self.before("read")
        body = self._body(bucket, key)
        return (body[n : n + _CHUNK_BYTES] for n in range(0, len(body), _CHUNK_BYTES))

    def put(
        self, bucket: str, key: str, body: bytes, *, content_type: str, metadata: Mapping[str, str]
    ) -> Written:
        self.before("put")
        etag = self._etag(body)
        return self._store(bucket, key, body, etag, content_type, metadata)

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
        self.before("copy")
        body = self._body(*source, version_id)
        etag = self._etag(body)
        return self._store(*target, body, etag, content_type, metadata, tags)

    def delete(self, bucket: str, key: str) -> None:
        self.before("delete")
        self._mark_deleted(bucket, key)

    def delete_version(self, bucket: str, key: str, *, version_id: str) -> None:
        self.before("delete")
        self._remove_version(bucket, key, version_id)

    def delete_many(self, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        self.before("delete")
        for key, version_id in wanted:
            if version_id is None:
                self._mark_deleted(bucket, key)
            else:
                self._remove_version(bucket, key, version_id)

    def list_multiparts(self, bucket: str, prefix: str, *, limit: int = 1000) -> list[OpenUpload]:
        self.before("list")
        result = [
            OpenUpload(upload.key, upload_id)
            for upload_id, upload in self.uploads.items()
            if upload.bucket == bucket and upload.key.startswith(prefix)
        ]
        return sorted(result, key=lambda upload: upload.key)[:limit]

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
        self.before("copy_part")
        body = self._body(*source, version_id)
        upload = self._upload(*target, upload_id)
        if span[1] > len(body):
            raise ObjectRefusedError(source.key, f"it has {len(body)} bytes")
        part = upload.parts[number] = body[span[0] : span[1]]
        return Part(number, _md5(part), len(part))

    def create_multipart(
        self,
        bucket: str,
        key: str,
        *,
        content_type: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str] = NO_TAGS,
    ) -> str:
        self.before("create_multipart")
        self.made += 1
        upload_id = f"multipart-{self.made}"
        self.uploads[upload_id] = _Multipart(bucket, key, content_type, dict(metadata), tags)
        return upload_id

    def list_parts(self, bucket: str, key: str, upload_id: str) -> list[Part]:
        self.before("list_parts")
        parts = self._upload(bucket, key, upload_id).parts
        return [Part(number, _md5(body), len(body)) for number, body in sorted(parts.items())]

    def complete_multipart(
        self, bucket: str, key: str, upload_id: str, parts: Sequence[Part]
    ) -> Written:
        self.before("complete_multipart")
        upload = self._upload(bucket, key, upload_id)
        for part in parts:
            if part.number not in upload.parts or _md5(upload.parts[part.number]) != part.etag:
                raise ObjectRefusedError(key, f"part {part.number} was not found")
        bodies = [upload.parts[part.number] for part in parts]
        if any(len(body) < _LEAST_PART_BYTES for body in bodies[:-1]):
            raise ObjectRefusedError(key, "EntityTooSmall: a part is too small")
        digests = b"".join(hashlib.md5(b, usedforsecurity=False).digest() for b in bodies)
        etag = f"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"
        del self.uploads[upload_id]
        body = b"".join(bodies)
        return self._store(
            bucket, key, body, etag, upload.content_type, upload.metadata, upload.tags
        )

    def abort_multipart(self, bucket: str, key: str, upload_id: str) -> None:
        self.before("abort_multipart")
        self.uploads.pop(upload_id, None)

    def presign_part(
        self, bucket: str, key: str, *, upload_id: str, number: int, expires: int
    ) -> str:
        return f"memory://{bucket}/{quote(key)}?{upload_id}&{number}"

    def presign_put(self, bucket: str, key: str, *, expires: int) -> str:
        return f"memory://{bucket}/{quote(key)}"

    def presign_get(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None,
        serving: Serving,
        expires: int,
    ) -> str:
        return f"memory://{bucket}/{quote(key)}"

    def receive(self, url: str, body: bytes) -> str:
        """Handle a PUT to a presigned URL; return the ETag as S3 writes it."""
        sent = urlsplit(url)
        key = unquote(sent.path[1:])
        if not sent.query:
            written = self.put(sent.netloc, key, body, content_type="", metadata={})
            return f'"{written.etag}"'
        upload_id, _, number = sent.query.partition("&")
        upload = self._upload(sent.netloc, key, upload_id)
        upload.parts[int(number)] = body
        return f'"{_md5(body)}"'

    def _mark_deleted(self, bucket: str, key: str) -> None:
        if not self.versioned(bucket):
            if self.buckets.get(bucket, {}).pop(key, None):
                self.changed(bucket, key)
            return
        marker = self._version(bucket, key)._replace(is_delete_marker=True)
        self._add(bucket, _Stored(marker))

    def _remove_version(self, bucket: str, key: str, version_id: str) -> None:
        stored = self._versions(bucket, key)
        left = [item for item in stored if item.version.version_id != version_id]
        if len(left) == len(stored):
            return
        if left:
            left[0] = replace(left[0], version=left[0].version._replace(is_latest=True))
            self.buckets[bucket][key] = left
        else:
            del self.buckets[bucket][key]
        self.changed(bucket, key)

    def _store(
        self,
        bucket: str,
        key: str,
        body: bytes,
        etag: str,
        content_type: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str] = NO_TAGS,
    ) -> Written:
        version = self._version(bucket, key)._replace(size=len(body), etag=etag)
        kept = {name.lower(): value for name, value in metadata.items()}
        self._add(bucket, _Stored(version, body, content_type, kept, tags))
        return Written(version.version_id, etag)

    def _etag(self, body: bytes) -> str:
        """A different ETag for each version, as under KMS: it is no digest of the content."""
        return hashlib.md5(b"%d " % self.made + body, usedforsecurity=False).hexdigest()

    def _version(self, bucket: str, key: str) -> ObjectVersion:
        self.made += 1
        version_id = f"v{self.made:09}" if self.versioned(bucket) else UNVERSIONED
        return ObjectVersion(key, version_id, True, self.clock().replace(microsecond=0))

    def _add(self, bucket: str, stored: _Stored) -> None:
        key = stored.version.key
        older = self._versions(bucket, key) if self.versioned(bucket) else []
        if older:  # just the first of them was the latest
            first = older[0].version._replace(is_latest=False)
            older = [replace(older[0], version=first), *older[1:]]
        self.buckets.setdefault(bucket, {})[key] = [stored, *older]
        self.changed(bucket, key)

    def _versions(self, bucket: str, key: str) -> list[_Stored]:
        return self.buckets.get(bucket, {}).get(key, [])

    def _listed(self, bucket: str, prefix: str) -> list[tuple[str, list[_Stored]]]:
        items = self.buckets.get(bucket, {}).items()
        return sorted(item for item in items if item[0].startswith(prefix))

    def _body(self, bucket: str, key: str, version_id: str | None = None) -> bytes:
        return self._existing(bucket, key, version_id).body

    def _existing(self, bucket: str, key: str, version_id: str | None) -> _Stored:
        stored = [
            item
            for item in self._versions(bucket, key)
            if version_id in {None, item.version.version_id}
        ]
        if not stored or stored[0].version.is_delete_marker:
            raise NotFoundError(f"there is no object {key}")
        return stored[0]

    def _upload(self, bucket: str, key: str, upload_id: str) -> _Multipart:
        result = self.uploads.get(upload_id)
        if result is None or (result.bucket, result.key) != (bucket, key):
            raise NotFoundError(f"there is no upload {upload_id}")
        return result


def _md5(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def _passed(versions: Sequence[ObjectVersion], after_key: str, after_version_id: str | None) -> int:
    """The number of versions up to and including a position."""
    for number, version in enumerate(versions):
        if version.key > after_key:
            return number
        if version.key == after_key and version.version_id == after_version_id:
            return number + 1
    return len(versions)
