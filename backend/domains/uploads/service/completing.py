"""From stored parts to a file of the asset: one file, step by step.

Every step can be repeated: when an earlier request died, its work is found in the object store and
gone on with. S3 requests for a file: list the parts, complete, read the start (or, to verify a
checksum, the whole), copy, remove the temporary version; one put for an empty file. A preview
takes two or three more (its base, other previews and their removal), a repetition one or two.
"""

import base64
import hashlib
from collections.abc import Sequence, Set
from dataclasses import dataclass

from backend.core.errors import NotFoundError
from backend.core.file_kinds import content_type_of, executable_kind, is_preview, preview_base
from backend.core.objects import ObjectHead, ObjectRefusedError, Objects, Part
from backend.domains.files.service import find_previews
from backend.domains.uploads import rules
from backend.domains.uploads.models import SentPart, Upload, UploadFile
from backend.spec.buckets import (
    CHECKSUM_METADATA,
    CHECKSUM_VERIFIED_METADATA,
    UPLOAD_METADATA,
)

START_BYTES = 4096
ABANDONED = "abandoned: no parts were sent"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file; while it is not `settled`, completing it again may still succeed."""

    error: str | None = None
    settled: bool = True


@dataclass(frozen=True, slots=True)
class _Temporary:
    """A file that is put together and not yet checked."""

    key: str
    version_id: str
    size: int


@dataclass(frozen=True, slots=True)
class _Content:
    """What reading a temporary object told."""

    start: bytes
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Completes files of one upload. `verified` are the paths whose checksum is to be compared."""

    objects: Objects
    bucket: str
    layout: rules.Layout
    upload: Upload
    allowed: str
    verified: Set[str]

    def settle(self, file: UploadFile, parts: Sequence[SentPart]) -> Outcome:
        """Make a file of the parts, or find out why not.

        Raises:
            UnavailableError: S3 does not answer; nothing is lost, settle it again.
        """
        if not parts and not file.is_empty:
            self.discard(file)
            return Outcome(ABANDONED)
        problem = rules.name_problem(file.path, self.layout.upload_type, self.allowed)
        if problem is None:
            problem = self._base_problem(file.path)
        if problem is not None:
            return Outcome(problem, settled=False)
        if self._was_finished(file):
            return Outcome()
        if file.is_empty:
            return self._put_empty(file)
        found = self._put_together(file, parts)
        return found if isinstance(found, Outcome) else self._store(file, found)

    def discard(self, file: UploadFile) -> None:
        """Remove what S3 holds of a file that is not completed."""
        if file.is_empty:
            return
        key = self.layout.temporary_key(file.path)
        self.objects.abort_multipart(self.bucket, key, file.upload_id_s3)
        if self.upload.attempts > 1:
            self._remove_temporary(key)

    def _base_problem(self, path: str) -> str | None:
        """A file's preview needs the file; those of this upload are completed before."""
        base = preview_base(path)
        if base is None or self.layout.upload_type == "assetPreview":
            return None
        head = self.objects.head(self.bucket, self.layout.final_key(base))
        return None if isinstance(head, ObjectHead) else f"there is no file {base} to preview"

    def _was_finished(self, file: UploadFile) -> bool:
        """Whether an attempt that died had this file in place; its rest is removed then."""
        if self.upload.attempts <= 1:
            return False
        head = self.objects.head(self.bucket, self.layout.final_key(file.path))
        if not isinstance(head, ObjectHead):
            return False
        if head.metadata.get(UPLOAD_METADATA) != self.upload.upload_id:
            return False
        if not file.is_empty:
            self._remove_temporary(self.layout.temporary_key(file.path))
        return True

    def _remove_temporary(self, key: str) -> None:
        head = self.objects.head(self.bucket, key)
        if isinstance(head, ObjectHead):
            self.objects.delete_version(self.bucket, key, version_id=head.version.version_id)

    def _put_empty(self, file: UploadFile) -> Outcome:
        if file.checksum_sha256 not in {None, _sha256(b"")}:
            return Outcome("checksumSha256 is not that of no bytes")
        key = self.layout.final_key(file.path)
        try:
            self.objects.put(
                self.bucket,
                key,
                b"",
                content_type=content_type_of(key),
                metadata=self._metadata(file, is_verified=True),
            )
        except ObjectRefusedError as error:
            return Outcome(_refused(error))
        return Outcome()

    def _put_together(self, file: UploadFile, parts: Sequence[SentPart]) -> _Temporary | Outcome:
        key = self.layout.temporary_key(file.path)
        try:
            stored = self.objects.list_parts(self.bucket, key, file.upload_id_s3)
        except NotFoundError:
            return self._left_behind(key)
        problem = rules.stored_parts_problem(file, self.layout.upload_type, parts, stored)
        if problem is not None:
            return Outcome(problem, settled=False)
        sizes = {part.number: part.size for part in stored}
        wanted = [
            Part(part.part_number, part.etag.strip('"'), sizes[part.part_number])
            for part in sorted(parts, key=lambda part: part.part_number)
        ]
        try:
            written = self.objects.complete_multipart(self.bucket, key, file.upload_id_s3, wanted)
        except ObjectRefusedError as error:
            return Outcome(_refused(error), settled=False)
        except NotFoundError:
            return self._left_behind(key)
        return _Temporary(key, written.version_id, sum(part.size for part in wanted))

    def _left_behind(self, key: str) -> _Temporary | Outcome:
        """The object that an attempt that died put together, where S3 knows the upload no more."""
        head = self.objects.head(self.bucket, key)
        if isinstance(head, ObjectHead):
            return _Temporary(key, head.version.version_id, head.version.size)
        return Outcome("S3 knows the upload no more: it expired or was given up")

    def _store(self, file: UploadFile, temporary: _Temporary) -> Outcome:
        """Check the bytes and copy them to their final key, or remove them."""
        content = self._read(file, temporary)
        outcome = self._content_outcome(file, temporary, content)
        key = self.layout.final_key(file.path)
        if outcome.error is None:
            try:
                self.objects.copy(
                    (self.bucket, temporary.key),
                    (self.bucket, key),
                    content_type=content_type_of(key),
                    metadata=self._metadata(file, is_verified=content.sha256 is not None),
                )
            except ObjectRefusedError as error:
                outcome = Outcome(_refused(error))
        self.objects.delete_version(self.bucket, temporary.key, version_id=temporary.version_id)
        if outcome.error is None:
            self._replace_previews(file.path, key)
        return outcome

    def _read(self, file: UploadFile, temporary: _Temporary) -> _Content:
        if file.path not in self.verified or temporary.size > rules.CHECKED_FILE_BYTES:
            start = self.objects.read_start(self.bucket, temporary.key, length=START_BYTES)
            return _Content(start)
        digest, start = hashlib.sha256(), b""
        for chunk in self.objects.read_chunks(self.bucket, temporary.key):
            start = start or chunk[:START_BYTES]
            digest.update(chunk)
        return _Content(start, base64.b64encode(digest.digest()).decode())

    def _content_outcome(
        self, file: UploadFile, temporary: _Temporary, content: _Content
    ) -> Outcome:
        kind = executable_kind(content.start)
        if kind is not None:
            return Outcome(f"the content is {kind}")
        if content.sha256 is not None and content.sha256 != file.checksum_sha256:
            return Outcome(f"the bytes have the SHA-256 {content.sha256}, not the announced one")
        return Outcome(rules.size_problem(temporary.size, self.layout.upload_type, file.path))

    def _replace_previews(self, path: str, key: str) -> None:
        """A new preview replaces those of its file that have another extension."""
        base = preview_base(key)
        if base is None or not is_preview(path):
            return
        for other in find_previews(self.objects, self.bucket, base):
            if other != key:
                self.objects.delete(self.bucket, other)

    def _metadata(self, file: UploadFile, *, is_verified: bool) -> dict[str, str]:
        metadata = {UPLOAD_METADATA: self.upload.upload_id}
        if file.checksum_sha256 is not None:
            metadata[CHECKSUM_METADATA] = file.checksum_sha256
            metadata[CHECKSUM_VERIFIED_METADATA] = "true" if is_verified else "false"
        return metadata


def _refused(error: ObjectRefusedError) -> str:
    return f"the object store refuses it: {error.reason}"


def _sha256(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()
