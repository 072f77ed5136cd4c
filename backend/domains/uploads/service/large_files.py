"""Completes large files: one bounded, repeatable step of a job at a time.

A file takes these steps: combine its parts, check its first bytes and start the copy; copy part
after part; finish the copy, remove the temporary object, and write the result to the upload. The
job's cursor contains the file and the multipart upload of its copy. S3 lists the copied parts, so
another worker can continue after a crash.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.core.errors import NotFoundError, UnavailableError
from backend.core.file_kinds import content_type_of
from backend.core.objects import ObjectRef, ObjectRefusedError, Part
from backend.core.parallel import WORKERS, in_parallel
from backend.core.part_copies import COPY_TIME
from backend.domains.jobs.models import Job, Progress
from backend.domains.uploads import rules
from backend.domains.uploads.models import Settled, Upload, UploadFile
from backend.domains.uploads.service.completion import Completion, Outcome, refusal_reason
from backend.domains.uploads.service.context import UploadContext
from backend.domains.uploads.service.settlement import ASSET_GONE, Settlement

PARTS_LOST = "S3 lost its parts while they were being combined"


@dataclass(eq=False, repr=False)
class _Copy:
    """The copy of one file to its place; `copy_id` is the id of its multipart upload."""

    completion: Completion
    file: UploadFile
    copy_id: str

    @property
    def source(self) -> ObjectRef:
        key = self.completion.layout.temporary_key(self.file.path)
        return ObjectRef(self.completion.bucket, key)

    @property
    def target(self) -> ObjectRef:
        return ObjectRef(self.completion.bucket, self.completion.layout.final_key(self.file.path))


@dataclass(eq=False, repr=False)
class LargeFiles:
    context: UploadContext
    settlement: Settlement

    def step(self, job: Job) -> Progress:
        """Run the next step of a job that completes large files of one upload.

        Raises:
            UnavailableError: a service is unavailable; repeat the step.
        """
        numbers: list[int] = job.parameters["files"]
        index = int(job.cursor.get("index", 0))
        if index >= len(numbers):
            return Progress(cursor=job.cursor, finished=True)
        following = {"index": index + 1}
        upload = self.context.uploads.get(str(job.parameters["uploadId"]))
        if upload is None:
            return Progress(finished=True, problems=("the upload no longer exists",))
        file = upload.files[int(numbers[index])]
        handed = upload.handed.get(file.path)
        # Settled before, or passed to a later job of the same upload.
        if handed is None or handed.job_id != job.job_id:
            return Progress(cursor=following, items=1)
        asset = self.context.active_asset(upload)
        if asset is None:
            self._clear(upload, file, job.cursor)
            return self.settlement.progress_of(
                upload, file, Outcome(ASSET_GONE), cursor=job.cursor, following=following
            )
        completion = self.context.completion(upload, asset)
        if "copyId" in job.cursor:
            copy = _Copy(completion, file, str(job.cursor["copyId"]))
            copied = self._continue_copy(copy, int(job.cursor["size"]))
        else:
            copied = self._started_copy(completion, file, handed.parts)
        if isinstance(copied, Outcome):
            # Write the result to the asset and the upload.
            if copied.error is None:
                with suppress(
                    NotFoundError
                ):  # archived meanwhile: the file is there, the type waits
                    self.settlement.follow_files(asset, completion, {file.path: Settled()})
            else:
                completion.discard(file, assembled=True)
            return self.settlement.progress_of(
                completion.upload, file, copied, cursor=job.cursor, following=following
            )
        return Progress(cursor={"index": index, **copied})

    def _started_copy(
        self, completion: Completion, file: UploadFile, parts: str
    ) -> dict[str, Any] | Outcome:
        """Return the cursor of the copy that was started, or why there is none."""
        # A repeated step, also if the file has a newer version by now.
        if (stored := completion.stored_version(file)) is not None:
            return Outcome(version_id=stored)
        temporary = completion.assemble(file, parts)
        if isinstance(temporary, Outcome):
            return temporary
        try:
            outcome = completion.check(file, temporary)
        except NotFoundError as error:
            # Another attempt that stored the file meanwhile removed them: the next step finds it.
            raise UnavailableError("the combined object no longer exists") from error
        if outcome.error is not None:
            return outcome
        key = completion.layout.final_key(file.path)
        try:
            copy_id = self.context.objects.create_multipart(
                completion.bucket,
                key,
                content_type=content_type_of(key),
                metadata=completion.metadata(
                    file, is_verified=completion.verifies(file, temporary.size)
                ),
            )
        except ObjectRefusedError as error:
            return Outcome(refusal_reason(error), kind="rule")
        return {"copyId": copy_id, "size": temporary.size}

    def _continue_copy(self, copy: _Copy, size: int) -> dict[str, Any] | Outcome:
        """Return the cursor if parts are left, or the result of the file."""
        try:
            copied = self.context.objects.list_parts(*copy.target, copy.copy_id)
        except NotFoundError:
            if (stored := copy.completion.stored_version(copy.file)) is not None:
                return Outcome(version_id=stored)
            return {}  # the copy was aborted: start another
        spans = rules.copy_spans(size, self.context.large_bytes)
        try:
            whole = self._copy_parts(copy, spans, copied)
            if len(whole) < len(spans):
                return {"copyId": copy.copy_id, "size": size}
            written = self.context.objects.complete_multipart(*copy.target, copy.copy_id, whole)
        except ObjectRefusedError as error:
            self.context.objects.abort_multipart(*copy.target, copy.copy_id)
            return Outcome(refusal_reason(error), kind="rule")
        except NotFoundError:
            return self._lost(copy)
        copy.completion.remove_temporary(copy.file)
        return Outcome(version_id=written.version_id)

    def _lost(self, copy: _Copy) -> Outcome:
        """Return the result if the source or the copy disappeared.

        Another worker was faster, or none.
        """
        if (stored := copy.completion.stored_version(copy.file)) is not None:
            return Outcome(version_id=stored)
        self.context.objects.abort_multipart(*copy.target, copy.copy_id)
        return Outcome(PARTS_LOST)

    def _copy_parts(
        self, copy: _Copy, spans: Sequence[tuple[int, int]], copied: Sequence[Part]
    ) -> list[Part]:
        """Return the parts that are copied when time is up, in order; all of them if it suffices.

        Parts of another size were copied under another setting.
        """
        lengths = {number: end - start for number, (start, end) in enumerate(spans, start=1)}
        there = {part.number: part for part in copied if lengths.get(part.number) == part.size}
        missing = [number for number in lengths if number not in there]
        stop_at = self.context.clock() + COPY_TIME

        def copied_part(number: int) -> Part:
            return self.context.objects.copy_part(
                copy.source,
                copy.target,
                upload_id=copy.copy_id,
                number=number,
                span=spans[number - 1],
            )

        for start in range(0, len(missing), WORKERS):
            for part in in_parallel(copied_part, missing[start : start + WORKERS]):
                there[part.number] = part
            if self.context.clock() >= stop_at:
                break
        return [there[number] for number in sorted(there)]

    def _clear(self, upload: Upload, file: UploadFile, cursor: dict[str, Any]) -> None:
        """Remove the temporary data of a file whose asset is archived.

        A deletion removes it too.
        """
        assets = self.context.assets.assets
        asset = assets.get(upload.database_id, upload.asset_id, in_archive=True)
        if asset is None:
            return
        completion = self.context.completion(upload, asset)
        completion.discard(file, assembled=True)
        if "copyId" in cursor:
            copy = _Copy(completion, file, str(cursor["copyId"]))
            self.context.objects.abort_multipart(*copy.target, copy.copy_id)
