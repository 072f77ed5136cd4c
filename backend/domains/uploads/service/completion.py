"""Completes one file of an upload from its stored parts, step by step.

Every step can be repeated: if an earlier request died, its results are found in the object store
and used. S3 requests for a file that was uploaded whole: read the start (or, to verify a checksum,
all of it), copy. For one of parts, before these: list the parts, complete. One put for an empty
file. The temporary versions of all files of a request are removed by one more. A preview takes two
or three more (its base, other previews and their removal), a repetition some more. Large files are
only checked: a worker completes them.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from threading import Lock
from typing import TypeGuard

from backend.core.clock import Clock, epoch_seconds
from backend.core.errors import NotFoundError, UnavailableError
from backend.core.file_kinds import content_type_of, executable_kind, preview_base
from backend.core.objects import (
    ObjectHead,
    ObjectRef,
    ObjectRefusedError,
    Objects,
    ObjectVersion,
    Part,
    VersionRef,
)
from backend.core.parallel import in_parallel
from backend.core.previews import find_previews
from backend.domains.uploads import rules
from backend.domains.uploads.models import ErrorKind, SentPart, Upload, UploadFile
from backend.domains.uploads.repository import UploadRepository
from backend.domains.uploads.service.temporary import (
    Content,
    Single,
    Temporary,
    read,
    read_single,
    remove_versions,
    sha256_of,
)
from backend.spec.buckets import CHECKSUM_METADATA, CHECKSUM_VERIFIED_METADATA, UPLOAD_METADATA
from backend.values import frozen

# A user's newest uploads, among which those to the same asset are searched: one page of the index
# by user (decision 14).
AMONG = 1000
# Uploads to the same asset whose files are compared, each of which is read by itself.
COMPARED_UPLOADS = 100


class OtherUploads:
    """Reads them once, at first use, because a request may complete a thousand previews."""

    def __init__(self, uploads: UploadRepository, upload: Upload, clock: Clock) -> None:
        self._uploads = uploads
        self._upload = upload
        self._clock = clock
        self._lock = Lock()
        self._found: list[Upload] | None = None

    def with_open(self, path: str) -> tuple[str, ...]:
        """Return the ids of those that may still create a file of this path."""
        with self._lock:
            if self._found is None:
                self._found = self._read()
        now = epoch_seconds(self._clock())
        return tuple(
            upload.upload_id for upload in self._found if upload.may_complete(path, now=now)
        )

    def _read(self) -> list[Upload]:
        mine = self._upload
        ids = self._uploads.newest_of(mine.user_id, mine.asset_id, among=AMONG)
        others = [upload_id for upload_id in ids if upload_id != mine.upload_id][:COMPARED_UPLOADS]
        uploads = in_parallel(self._uploads.get, others)
        return [
            upload
            for upload in uploads
            if upload is not None
            and upload.status == "initialised"
            and (upload.database_id, upload.upload_type) == (mine.database_id, "assetFile")
        ]


# Versions of a file among which an interrupted completion's version is searched. A user may have
# replaced it.
VERSIONS_LOOKED_AT = 20
ABANDONED = "cancelled: no parts were sent"
GONE = "the upload no longer exists in S3: it has expired or was cancelled"
REPLACED = "its parts were replaced after it was completed"


@frozen
class Outcome:
    """The result for a file; while it is not `settled`, completing it again may still succeed.

    `handed` is the digest of the parts of a file that a worker has to complete: a large one, or a
    preview whose file is in one of the uploads `awaits`. `left` is a temporary version that
    is no longer needed, `version_id` the version that was written.
    """

    error: str | None = None
    settled: bool = True
    kind: ErrorKind = "failure"
    handed: str | None = None
    awaits: tuple[str, ...] = ()
    left: VersionRef | None = None
    version_id: str | None = None


@dataclass(eq=False, repr=False)
class Completion:
    """Completes files of one upload. `verified` are the paths whose checksum is compared.

    Files of more than `large_bytes` are handed over, and previews whose file is one of `elsewhere`.
    """

    objects: Objects
    bucket: str
    layout: rules.Layout
    upload: Upload
    allowed: str
    verified: Set[str]
    large_bytes: int
    elsewhere: OtherUploads

    def settle(self, file: UploadFile, parts: Sequence[SentPart]) -> Outcome:
        """Create the file from its parts, or determine why that is impossible.

        Raises:
            UnavailableError: S3 does not respond; the call can be repeated.
        """
        if not parts and not file.is_empty:
            self.discard(file)
            return Outcome(ABANDONED, kind="abandoned")
        problem = rules.name_problem(file.path, self.layout.upload_type, self.allowed)
        awaits: tuple[str, ...] = ()
        if problem is None and (base := self.missing_base(file.path)) is not None:
            awaits = self.elsewhere.with_open(base)
            # The other upload may have ended between both checks: then its file exists now.
            if not awaits and self.missing_base(file.path) is not None:
                problem = f"there is no file {base} that this preview could belong to"
        if problem is not None:
            return Outcome(problem, settled=False, kind="rule")
        if self.upload.attempts > 1 and (stored := self.stored_version(file)) is not None:
            return Outcome(version_id=stored)
        if awaits and file.is_empty:
            return Outcome(handed="", awaits=awaits)
        if file.is_empty:
            return self._put_empty(file)
        settle = self._settle_single if file.is_single else self._settle_parts
        return settle(file, parts, awaits)

    def settle_waiting(self, file: UploadFile, digest: str) -> Outcome:
        """Create the file from the parts that were stored when it was handed over to wait.

        Raises:
            UnavailableError: S3 does not respond; the call can be repeated.
        """
        if (stored := self.stored_version(file)) is not None:
            return Outcome(version_id=stored)
        if file.is_empty:
            return self._put_empty(file)
        if file.is_single:
            single = self._read_single(file)
            if single is None:
                return Outcome(GONE)
            if rules.parts_digest([single.part]) != digest:
                return Outcome(REPLACED)
            return self._place(file, single.temporary, single.content)
        outcome = self.assemble(file, digest)
        return outcome if isinstance(outcome, Outcome) else self._place(file, outcome)

    def assemble(self, file: UploadFile, digest: str) -> Temporary | Outcome:
        """Combine the parts of a large file that were stored when it was handed over.

        Raises:
            UnavailableError: S3 does not respond.
        """
        try:
            stored = self.objects.list_parts(self.bucket, self._temporary(file), file.upload_id_s3)
        except NotFoundError:
            return self._left_behind(file)
        if digest and rules.parts_digest(stored) != digest:
            return Outcome(REPLACED)
        return self._put_together(file, stored)

    def check(self, file: UploadFile, temporary: Temporary) -> Outcome:
        """Return whether the content of a large file may be stored in the asset."""
        return self._content_outcome(file, temporary, self._read(file, temporary))

    def stored_version(self, file: UploadFile) -> str | None:
        """Return the version that an earlier attempt stored; temporary objects are removed then.

        Also if the file was replaced or archived since, so that it is not stored over that.
        """
        key = self.layout.final_key(file.path)
        head = self.objects.head(self.bucket, key)
        if head is None:
            return None
        stored = (
            head.version.version_id
            if self._is_ours(head)
            else find_version(self.objects, ObjectRef(self.bucket, key), self._is_ours)
        )
        if stored is not None and not file.is_empty:
            self.remove_temporary(file)
        return stored

    def discard(self, file: UploadFile, *, assembled: bool = False) -> None:
        """Remove the objects and parts of a file that is not completed."""
        if file.is_empty:
            return
        if file.is_single:
            self.remove_temporary(file)
            return
        self.objects.abort_multipart(self.bucket, self._temporary(file), file.upload_id_s3)
        if assembled or self.upload.attempts > 1:
            self.remove_temporary(file)

    def verifies(self, file: UploadFile, size: int) -> bool:
        """Return whether a file of this size is read completely to compare its checksum."""
        return file.path in self.verified and size <= rules.CHECKED_FILE_BYTES

    def remove_temporary(self, file: UploadFile) -> None:
        """Remove the temporary object, if it exists."""
        key = self._temporary(file)
        if file.is_single:
            # An object that is put whole may have several versions: a client may repeat the
            # request.
            remove_versions(self.objects, self.bucket, key)
            return
        head = self.objects.head(self.bucket, key)
        if isinstance(head, ObjectHead):
            self.objects.delete_version(self.bucket, key, version_id=head.version.version_id)

    def remove_all_temporary(self) -> None:
        """Remove the temporary objects of the whole upload."""
        remove_versions(self.objects, self.bucket, self.layout.temporary_folder)

    def missing_base(self, path: str) -> str | None:
        """Return the path of the file that this is a preview of, if that file does not exist.

        Files of this upload are completed before their previews.
        """
        base = preview_base(path)
        if base is None or self.layout.upload_type == "assetPreview":
            return None
        head = self.objects.head(self.bucket, self.layout.final_key(base))
        return None if isinstance(head, ObjectHead) else base

    def metadata(self, file: UploadFile, *, is_verified: bool) -> dict[str, str]:
        """Return the object metadata of a file."""
        metadata = {UPLOAD_METADATA: self.upload.upload_id}
        if file.checksum_sha256 is not None:
            metadata[CHECKSUM_METADATA] = file.checksum_sha256
            metadata[CHECKSUM_VERIFIED_METADATA] = "true" if is_verified else "false"
        return metadata

    def _temporary(self, file: UploadFile) -> str:
        return self.layout.temporary_key(file.path)

    def _is_ours(self, head: ObjectHead | ObjectVersion | None) -> TypeGuard[ObjectHead]:
        if not isinstance(head, ObjectHead):
            return False
        return head.metadata.get(UPLOAD_METADATA) == self.upload.upload_id

    def _put_empty(self, file: UploadFile) -> Outcome:
        if file.checksum_sha256 not in {None, sha256_of(b"")}:
            return Outcome("checksumSha256 is not the checksum of an empty file")
        key = self.layout.final_key(file.path)
        try:
            written = self.objects.put(
                self.bucket,
                key,
                b"",
                content_type=content_type_of(key),
                metadata=self.metadata(file, is_verified=True),
            )
        except ObjectRefusedError as error:
            return Outcome(refusal_reason(error), kind="rule")
        return Outcome(version_id=written.version_id)

    def _settle_single(
        self, file: UploadFile, parts: Sequence[SentPart], awaits: tuple[str, ...]
    ) -> Outcome:
        single = self._read_single(file)
        stored = [] if single is None else [single.part]
        problem = rules.stored_parts_problem(file, parts, stored)
        if single is None or problem is not None:
            return Outcome(problem, settled=False)
        if awaits:
            return Outcome(handed=rules.parts_digest(stored), awaits=awaits)
        return self._place(file, single.temporary, single.content)

    def _read_single(self, file: UploadFile) -> Single | None:
        size = file.size or 0
        return read_single(
            self.objects,
            self.bucket,
            self._temporary(file),
            size=size,
            verified=self.verifies(file, size),
        )

    def _settle_parts(
        self, file: UploadFile, parts: Sequence[SentPart], awaits: tuple[str, ...]
    ) -> Outcome:
        try:
            stored = self.objects.list_parts(self.bucket, self._temporary(file), file.upload_id_s3)
        except NotFoundError:
            left = self._left_behind(file)
            if awaits and not isinstance(left, Outcome):
                return Outcome(handed="", awaits=awaits)
            return left if isinstance(left, Outcome) else self._store(file, left, "")
        problem = rules.stored_parts_problem(file, parts, stored)
        if problem is not None:
            return Outcome(problem, settled=False)
        held = {part.number: part for part in stored}
        wanted = [held[number] for number in sorted(part.part_number for part in parts)]
        size = sum(part.size for part in wanted)
        problem = rules.size_problem(size, self.layout.upload_type, file.path)
        if problem is not None:
            return Outcome(problem, settled=False, kind="rule")
        if awaits or size > self.large_bytes:
            return Outcome(handed=rules.parts_digest(wanted), awaits=awaits)
        left = self._put_together(file, wanted)
        return left if isinstance(left, Outcome) else self._store(file, left, "")

    def _put_together(self, file: UploadFile, parts: Sequence[Part]) -> Temporary | Outcome:
        key = self._temporary(file)
        try:
            written = self.objects.complete_multipart(self.bucket, key, file.upload_id_s3, parts)
        except ObjectRefusedError as error:
            return Outcome(refusal_reason(error), settled=False)
        except NotFoundError:
            return self._left_behind(file)
        return Temporary(key, written.version_id, sum(part.size for part in parts))

    def _left_behind(self, file: UploadFile) -> Temporary | Outcome:
        """Return the object that an earlier attempt combined, without its multipart upload."""
        head = self.objects.head(self.bucket, self._temporary(file))
        if isinstance(head, ObjectHead):
            return Temporary(head.version.key, head.version.version_id, head.version.size)
        return Outcome(GONE)

    def _store(self, file: UploadFile, temporary: Temporary, digest: str) -> Outcome:
        if temporary.size > self.large_bytes:
            return Outcome(handed=digest)
        return self._place(file, temporary)

    def _place(
        self, file: UploadFile, temporary: Temporary, content: Content | None = None
    ) -> Outcome:
        """Check the content (`content` if it was read before), and copy it to the final key.

        Raises:
            UnavailableError: another worker stored the file meanwhile, which the next attempt
                finds; or S3 does not respond.
        """
        try:
            return self._checked_and_copied(file, temporary, content or self._read(file, temporary))
        except NotFoundError as error:
            raise UnavailableError("the temporary object no longer exists") from error

    def _checked_and_copied(
        self, file: UploadFile, temporary: Temporary, content: Content
    ) -> Outcome:
        outcome = self._content_outcome(file, temporary, content)
        key = self.layout.final_key(file.path)
        if outcome.error is None:
            try:
                written = self.objects.copy(
                    ObjectRef(self.bucket, temporary.key),
                    ObjectRef(self.bucket, key),
                    content_type=content_type_of(key),
                    metadata=self.metadata(file, is_verified=content.sha256 is not None),
                    # The URL of a file that is uploaded whole is still valid: copy the version that
                    # was checked.
                    version_id=temporary.version_id,
                )
            except ObjectRefusedError as error:
                outcome = Outcome(refusal_reason(error), kind="rule")
            else:
                outcome = replace(outcome, version_id=written.version_id)
                replace_previews(self.objects, self.bucket, key)
        return replace(outcome, left=VersionRef(temporary.key, temporary.version_id))

    def _read(self, file: UploadFile, temporary: Temporary) -> Content:
        verified = self.verifies(file, temporary.size)
        return read(self.objects, self.bucket, temporary, verified=verified)

    def _content_outcome(self, file: UploadFile, temporary: Temporary, content: Content) -> Outcome:
        kind = executable_kind(content.start)
        if kind is not None:
            return Outcome(f"the content is {kind}, which is not accepted", kind="rule")
        if content.sha256 is not None and content.sha256 != file.checksum_sha256:
            return Outcome(
                f"the file's SHA-256 is {content.sha256}, which differs from the announced one"
            )
        problem = rules.size_problem(temporary.size, self.layout.upload_type, file.path)
        return Outcome(problem, kind="rule")


def find_version(
    objects: Objects,
    place: ObjectRef,
    is_wanted: Callable[[ObjectHead | ObjectVersion | None], bool],
) -> str | None:
    """Return the newest wanted one of the latest versions of a key."""
    versions = objects.list_versions(*place, limit=VERSIONS_LOOKED_AT).versions
    ids = (v.version_id for v in versions if v.key == place.key and not v.is_delete_marker)
    return next((i for i in ids if is_wanted(objects.head(*place, version_id=i))), None)


def replace_previews(objects: Objects, bucket: str, key: str) -> None:
    """Remove the previews of another extension that this preview of the same file replaces."""
    base = preview_base(key)
    if base is None:
        return
    for other in find_previews(objects, bucket, base):
        if other.key != key:
            objects.delete(bucket, other.key)


def refusal_reason(error: ObjectRefusedError) -> str:
    """Return the store's refusal as the reason for a file."""
    return f"the object store rejected it: {error.reason}"
