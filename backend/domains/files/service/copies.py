"""Copies versions of objects: small ones by one request, large ones in parts over several steps.

A copy contains the id of its change, so a repeated step finds it.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.errors import NotFoundError
from backend.core.objects import NO_TAGS, ObjectHead, ObjectRef, Objects, VersionRef, Written
from backend.core.part_copies import PartCopies, PartCopy
from backend.domains.files.errors import ChangeEndedError, SourceGoneError
from backend.domains.files.models import VersionOrigin
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.files.service.rows import FileTarget
from backend.domains.quarantine.service.queries import Quarantine
from backend.spec.buckets import CHANGE_METADATA, SCAN_TAG

# The newest versions of a file among which an earlier copy of the same change is searched. A
# repeated step follows within minutes; only uploads of that time are above it.
_LOOKED_AT = 20


def tags_of_copy(objects: Objects, source: ObjectRef, head: ObjectHead) -> Mapping[str, str]:
    """Return the tags to copy: those of users only.

    Raises:
        NotFoundError: the object does not exist.
    """
    if not head.tag_count:
        return NO_TAGS
    tags = objects.tags(*source, version_id=head.version.version_id)
    # A scan's result is of the version that was scanned; S3 refuses tags of AWS from others.
    return {
        name: value
        for name, value in tags.items()
        if name != SCAN_TAG and not name.startswith("aws:")
    }


class FileCopy(NamedTuple):
    """One copy, and the metadata of its target.

    `still` raises a ChangeEndedError if another worker has ended the change.
    """

    source: ObjectRef
    head: ObjectHead
    place: FileTarget
    content_type: str
    metadata: Mapping[str, str]
    still: Callable[[], None]

    @property
    def target(self) -> ObjectRef:
        return ObjectRef(self.place.bucket, self.place.key)

    @property
    def change(self) -> str:
        return self.metadata[CHANGE_METADATA]


class Unfinished(NamedTuple):
    """A large copy that continues in the next step; None starts it again."""

    copy_id: str | None


@dataclass(eq=False, repr=False)
class Copies:
    objects: Objects
    parts: PartCopies
    quarantine: Quarantine
    origins: OriginRecords

    def copied_attributes(self, bucket: str, key: str, version_id: str | None) -> ObjectHead:
        """Return the attributes (HEAD) of the version to copy.

        Raises:
            FileQuarantinedError: a malware scan found a threat in it.
            SourceGoneError: it does not exist.
        """
        head = self.attributes(bucket, key, version_id)
        self.quarantine.check_clean(bucket, key, head.version.version_id)
        return head

    def attributes(self, bucket: str, key: str, version_id: str | None) -> ObjectHead:
        """As `copied_attributes`, of a version that is not in the quarantine.

        Raises:
            SourceGoneError: it does not exist.
        """
        head = self.objects.head(bucket, key, version_id=version_id)
        if not isinstance(head, ObjectHead):
            raise SourceGoneError(key)
        return head

    def find_quarantined(self, bucket: str, versions: Iterable[VersionRef]) -> Set[VersionRef]:
        """Return those of some versions that are quarantined; none where nothing is scanned."""
        return self.quarantine.among(bucket, versions) or frozenset[VersionRef]()

    def is_large(self, size: int) -> bool:
        """Return whether a file of this size is copied in parts, over several steps."""
        return size > self.parts.large_bytes

    def copy(
        self, file_copy: FileCopy, copy_id: str | None, origin: VersionOrigin
    ) -> Written | Unfinished:
        """As `write`, and record the origin of the written version."""
        written = self.write(file_copy, copy_id, first=False)
        if isinstance(written, Written):
            place = file_copy.place
            version = VersionRef(place.path, written.version_id)
            self.origins.record_versions(place.asset.ref, {version: origin})
        return written

    def write(
        self, file_copy: FileCopy, copy_id: str | None, *, first: bool
    ) -> Written | Unfinished:
        """Copy, or continue a copy; return the written version, or the state to continue with.

        At the `first` attempt of a step the target is not examined for an existing copy.

        Raises:
            ChangeEndedError: another worker has ended the change before.
            ObjectRefusedError: the store does not accept the object.
            SourceGoneError: the source does not exist.
        """
        existing = None if first else self._existing_copy(file_copy)
        if existing is not None:
            return existing
        if not self.is_large(file_copy.head.version.size):
            try:
                written = self.objects.copy(
                    file_copy.source,
                    file_copy.target,
                    content_type=file_copy.content_type,
                    metadata=file_copy.metadata,
                    tags=self._tags(file_copy),
                    version_id=file_copy.head.version.version_id,
                )
            except NotFoundError:
                raise SourceGoneError(file_copy.source.key) from None
            return self._kept(file_copy, written)
        if copy_id is None:
            begun = self.objects.create_multipart(
                *file_copy.target,
                content_type=file_copy.content_type,
                metadata=file_copy.metadata,
                tags=self._tags(file_copy),
            )
            return Unfinished(begun)
        return self._continue_copy(file_copy, copy_id)

    def _tags(self, file_copy: FileCopy) -> Mapping[str, str]:
        try:
            return tags_of_copy(self.objects, file_copy.source, file_copy.head)
        except NotFoundError:
            raise SourceGoneError(file_copy.source.key) from None

    def _kept(self, file_copy: FileCopy, written: Written) -> Written:
        """Return the copy, unless it would hide a version that was written meanwhile."""
        try:
            file_copy.still()
        except ChangeEndedError:
            # This worker was delayed past its lease. If there is no other copy of the change, the
            # worker that ended the change has found this one, and it is kept.
            if self._has_another(file_copy, written):
                bucket, key = file_copy.target
                self.objects.delete_version(bucket, key, version_id=written.version_id)
            raise
        return written

    def _has_another(self, file_copy: FileCopy, written: Written) -> bool:
        bucket, key = file_copy.target
        mark = file_copy.change.partition(".")[0]
        for version in self.objects.list_versions(bucket, key, limit=_LOOKED_AT).versions:
            if (
                version.key != key
                or version.is_delete_marker
                or version.version_id == written.version_id
            ):
                continue
            head = self.objects.head(bucket, key, version_id=version.version_id)
            made_by = head.metadata.get(CHANGE_METADATA, "") if isinstance(head, ObjectHead) else ""
            if made_by.partition(".")[0] == mark:
                return True
        return False

    def _continue_copy(self, file_copy: FileCopy, copy_id: str) -> Written | Unfinished:
        version = file_copy.head.version
        copy = PartCopy(
            source=file_copy.source,
            version_id=version.version_id,
            size=version.size,
            target=file_copy.target,
            copy_id=copy_id,
        )
        try:
            written = self.parts.copy_parts(copy)
        except NotFoundError:
            self.copied_attributes(*file_copy.source, version.version_id)
            return self._existing_copy(file_copy) or Unfinished(None)
        return written or Unfinished(copy_id)

    def _existing_copy(self, file_copy: FileCopy) -> Written | None:
        """Return the copy, if an earlier attempt of this step has written it."""
        head = self.objects.head(*file_copy.target)
        if isinstance(head, ObjectHead) and head.metadata.get(CHANGE_METADATA) == file_copy.change:
            return Written(head.version.version_id, head.version.etag)
        return None
