"""Temporary objects: uploaded content, until it is checked and copied to its place."""

import base64
import hashlib

from backend.core.errors import NotFoundError
from backend.core.objects import Objects, ObjectVersion, Part
from backend.values import frozen

# As the contract: executables are recognised by their first 4 KiB.
START_BYTES = 4096


@frozen
class Temporary:
    """A complete file that is not in its place yet."""

    key: str
    version_id: str
    size: int


@frozen
class Content:
    """The content that was read of a temporary object; its checksum only if that was all of it."""

    start: bytes
    sha256: str | None = None


@frozen
class Single:
    """A file that was uploaded whole, as read: the object, which is also its only part."""

    temporary: Temporary
    part: Part
    content: Content


def read(objects: Objects, bucket: str, temporary: Temporary, *, verified: bool) -> Content:
    """Read the start, or all of it to verify a checksum.

    Raises:
        NotFoundError: the object does not exist.
    """
    if not verified:
        return Content(objects.read_start(bucket, temporary.key, length=START_BYTES))
    digest, start = hashlib.sha256(), b""
    for chunk in objects.read_chunks(bucket, temporary.key):
        start = start or chunk[:START_BYTES]
        digest.update(chunk)
    return Content(start, base64.b64encode(digest.digest()).decode())


def read_single(
    objects: Objects, bucket: str, key: str, *, size: int, verified: bool
) -> Single | None:
    """Read the stored content of a file of this size that is uploaded whole.

    None if there is none.
    """
    try:
        version = objects.read_version(bucket, key, length=size if verified else START_BYTES)
    except NotFoundError:
        return None
    return Single(
        temporary=Temporary(key, version.version.version_id, version.version.size),
        part=whole_part(version.version),
        content=Content(
            version.content[:START_BYTES], sha256_of(version.content) if verified else None
        ),
    )


def whole_part(version: ObjectVersion) -> Part:
    """Return an object that was uploaded whole as its only part."""
    return Part(1, version.etag, version.size)


def remove_versions(objects: Objects, bucket: str, prefix: str) -> None:
    """Remove all versions below a prefix, always the first remaining ones."""
    while versions := objects.list_versions(bucket, prefix).versions:
        objects.delete_many(bucket, [(version.key, version.version_id) for version in versions])


def sha256_of(content: bytes) -> str:
    """Return a checksum in the form that uploaders send."""
    return base64.b64encode(hashlib.sha256(content).digest()).decode()
