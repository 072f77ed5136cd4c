"""Copies of versions of objects: small ones by one request, large ones part by part in steps.

A copy bears the name of the change that made it, so a step that is repeated finds it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from backend.core.errors import NotFoundError
from backend.core.objects import ObjectHead, Objects, Written
from backend.core.part_copies import PartCopies, PartCopy
from backend.core.wired import wired
from backend.spec.buckets import CHANGE_METADATA


class SourceGoneError(NotFoundError):
    """What was to be copied was deleted meanwhile."""

    code = "FileNotFound"
    needs_operator = False

    def __init__(self, key: str) -> None:
        super().__init__(f"The version of {key} that was to be copied was deleted meanwhile")


class Copying(NamedTuple):
    """One copy: bucket and key of source and target, and what the target is to be."""

    source: tuple[str, str]
    head: ObjectHead
    target: tuple[str, str]
    content_type: str
    metadata: Mapping[str, str]

    @property
    def change(self) -> str:
        return self.metadata[CHANGE_METADATA]


class Unfinished(NamedTuple):
    """A large copy that goes on in the next step; None begins it anew."""

    copy_id: str | None


@wired
class Copies:
    objects: Objects
    parts: PartCopies

    def demand(self, bucket: str, key: str, version_id: str | None) -> ObjectHead:
        """What HEAD tells of the version that is to be copied.

        Raises:
            SourceGoneError: it is gone.
        """
        head = self.objects.head(bucket, key, version_id=version_id)
        if not isinstance(head, ObjectHead):
            raise SourceGoneError(key)
        return head

    def copy(self, copying: Copying, copy_id: str | None) -> Written | Unfinished:
        """Copy, or go on with the copy that was begun; what it wrote, or how it goes on.

        Raises:
            ObjectRefusedError: the store does not take it.
            SourceGoneError: the source is gone.
        """
        found = self._made(copying)
        if found is not None:
            return found
        if copying.head.version.size <= self.parts.large_bytes:
            return self._copied(copying)
        if copy_id is None:
            begun = self.objects.create_multipart(
                *copying.target, content_type=copying.content_type, metadata=copying.metadata
            )
            return Unfinished(begun)
        return self._gone_on(copying, copy_id)

    def _copied(self, copying: Copying) -> Written:
        try:
            return self.objects.copy(
                copying.source,
                copying.target,
                content_type=copying.content_type,
                metadata=copying.metadata,
                version_id=copying.head.version.version_id,
            )
        except NotFoundError:
            raise SourceGoneError(copying.source[1]) from None

    def _gone_on(self, copying: Copying, copy_id: str) -> Written | Unfinished:
        version = copying.head.version
        copy = PartCopy(
            source=copying.source,
            version_id=version.version_id,
            size=version.size,
            target=copying.target,
            copy_id=copy_id,
        )
        try:
            written = self.parts.go_on(copy)
        except NotFoundError:
            self.demand(*copying.source, version.version_id)
            return self._made(copying) or Unfinished(None)
        return written or Unfinished(copy_id)

    def _made(self, copying: Copying) -> Written | None:
        """The copy, if a step that was not noted has made it."""
        head = self.objects.head(*copying.target)
        if isinstance(head, ObjectHead) and head.metadata.get(CHANGE_METADATA) == copying.change:
            return Written(head.version.version_id, head.version.etag)
        return None
