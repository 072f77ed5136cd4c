"""Processes the files of one upload, for a request or a worker that has its lease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from backend.core.clock import epoch_seconds, iso
from backend.core.errors import UnavailableError
from backend.core.file_kinds import is_preview
from backend.core.identity import Identity
from backend.core.objects import VersionRef
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.assets.models import Asset
from backend.domains.audit.models import audit_entity
from backend.domains.files.models import VersionOrigin
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.files.service.queries import FileQueries
from backend.domains.jobs.models import Progress
from backend.domains.uploads.errors import UploadBusyError, UploadNotFoundError
from backend.domains.uploads.models import (
    CompleteReply,
    FileResult,
    FileState,
    LargeFileJob,
    SentFile,
    Settled,
    Upload,
    UploadedFile,
    UploadFile,
    UploadReply,
    UploadState,
    UploadSummary,
)
from backend.domains.uploads.repository import MAX_RESULT_CHARS
from backend.domains.uploads.service.completion import Completion, Outcome
from backend.domains.uploads.service.context import UploadContext
from backend.spec.jobs import LARGE_FILES, WAITING_PREVIEWS
from backend.values import frozen

NOT_STARTED = "is not a file of this upload"
OTHER_UPLOAD_ID = "uploadIdS3 does not belong to this file"


@frozen
class Completed:
    """The reply to a completion, and whether all files failed."""

    reply: CompleteReply
    all_failed: bool


def is_open(upload: Upload, known: Mapping[str, UploadFile], sent: SentFile) -> bool:
    """Return whether a request has to process a file; also true if its worker failed."""
    file = known.get(sent.path)
    if file is None or file.upload_id_s3 != sent.upload_id_s3 or file.path in upload.results:
        return False
    handed = upload.handed.get(file.path)
    return handed is None or handed.stalled is not None


def completed_reply(
    upload: Upload,
    asset_type: str,
    sent: Sequence[SentFile],
    known: Mapping[str, UploadFile],
    unsettled: Mapping[str, Outcome],
) -> Completed:
    """Return the reply, from the state of the upload's files."""
    results = [_result(upload, file, known, unsettled) for file in sent]
    made = sum(result.success for result in results)
    failed = sum(not result.success and result.error_kind != "abandoned" for result in results)
    large = [result for result in results if result.large_file_asynchronous_handling]
    text = f"{made} of {len(results)} files were uploaded"
    reply = CompleteReply(
        message=f"{text}; {len(large)} of them are still being completed" if large else text,
        upload_id=upload.upload_id,
        asset_id=upload.asset_id,
        asset_type=asset_type,
        file_results=results,
        overall_success=failed == 0,
        large_file_asynchronous_handling=bool(large),
    )
    return Completed(reply, all_failed=failed > 0 and made == 0)


def describe_upload(upload: Upload) -> UploadReply:
    """Return an upload for users."""
    files = [_describe_file(upload, file) for file in upload.files]
    states = {file.state for file in files}
    state: UploadState = (
        "open" if "open" in states else "working" if "working" in states else "completed"
    )
    return UploadReply(
        upload_id=upload.upload_id,
        database_id=upload.database_id,
        asset_id=upload.asset_id,
        upload_type=upload.upload_type,
        user_id=upload.user_id,
        state=state,
        created_at=upload.created_at,
        expires_at=iso(datetime.fromtimestamp(upload.expires_at, UTC)),
        files=files,
        large_file_asynchronous_handling=any(f.large_file_asynchronous_handling for f in files),
    )


def summary(upload: Upload) -> UploadSummary:
    """Return an upload for a list."""
    whole = describe_upload(upload)
    states = [file.state for file in whole.files]
    return UploadSummary(
        upload_id=whole.upload_id,
        database_id=whole.database_id,
        asset_id=whole.asset_id,
        upload_type=whole.upload_type,
        state=whole.state,
        created_at=whole.created_at,
        expires_at=whole.expires_at,
        files=len(states),
        files_done=states.count("done"),
        files_failed=states.count("failed"),
        size=sum(file.file_size or 0 for file in whole.files),
    )


def describe_result(settled: Settled) -> str:
    """Return the result of a file in words."""
    return "it is already uploaded" if settled.is_done else f"it failed: {settled.error}"


def _result(
    upload: Upload,
    sent: SentFile,
    known: Mapping[str, UploadFile],
    unsettled: Mapping[str, Outcome],
) -> FileResult:
    settled: Settled | None
    if sent.path not in known:
        settled = Settled(error=NOT_STARTED)
    elif known[sent.path].upload_id_s3 != sent.upload_id_s3:
        settled = Settled(error=OTHER_UPLOAD_ID)
    elif sent.path in unsettled:
        outcome = unsettled[sent.path]
        settled = Settled(error=outcome.error or "", kind=outcome.kind)
    else:
        settled = upload.results.get(sent.path)  # none: a worker is processing it
    is_done = settled is None or settled.is_done
    return FileResult(
        relative_key=sent.relative_key,
        upload_id_s3=sent.upload_id_s3,
        success=is_done,
        error=None if is_done or settled is None else settled.error,
        error_kind=None if is_done or settled is None else settled.kind,
        large_file_asynchronous_handling=settled is None or settled.large,
    )


def _describe_file(upload: Upload, file: UploadFile) -> UploadedFile:
    settled, handed = upload.results.get(file.path), upload.handed.get(file.path)
    if settled is None and handed is not None and handed.stalled is not None:
        settled = Settled(error=handed.stalled, large=True)
    state: FileState = "open" if handed is None else "working"
    if settled is not None:
        state = "done" if settled.is_done else "failed"
    is_failed = settled is not None and not settled.is_done
    return UploadedFile(
        relative_key=file.path,
        upload_id_s3=file.upload_id_s3,
        num_parts=file.num_parts,
        file_size=file.size,
        state=state,
        error=settled.error if settled is not None and is_failed else None,
        error_kind=settled.kind if settled is not None and is_failed else None,
        large_file_asynchronous_handling=handed is not None or bool(settled and settled.large),
    )


# Time after which a request starts no further file; the next request continues. A request ends
# after 24 seconds.
WORK_TIME = timedelta(seconds=20)
# Until the worker tries again to write the upload's row, which a request has leased.
BUSY_SECONDS = 5
ASSET_GONE = "the asset was archived or deleted before the file was stored"
OPERATION = "complete_upload"
UPLOAD_DAYS = 7
"""Days in which an upload may be completed, and then days in which its large files are copied."""


@dataclass(slots=True)
class _Run:
    """The work of one request: until when it starts files, and why it stopped."""

    stop_at: datetime
    outage: UnavailableError | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])

    def final_results(self) -> dict[str, Settled]:
        """Return the final results, by path."""
        return {
            path: Settled(error=(outcome.error or "")[:MAX_RESULT_CHARS], kind=outcome.kind)
            for path, outcome in self.outcomes.items()
            if outcome.settled and outcome.handed is None
        }


@dataclass(eq=False, repr=False)
class Settlement:
    context: UploadContext
    files: FileQueries

    def work(
        self,
        caller: Identity,
        upload: Upload,
        asset: Asset,
        sent: Sequence[SentFile],
        known: Mapping[str, UploadFile],
    ) -> tuple[Upload, Asset, dict[str, Outcome]]:
        """Settle files of a leased upload, or hand them over, and release the lease.

        Returns the upload and asset in their new state, and the unsettled results.

        Raises:
            UnavailableError: S3 does not respond or time was up; the same request continues.
        """
        run = _Run(self.context.clock() + WORK_TIME)
        completion = self.context.completion(upload, asset)
        open_files = [file for file in sent if is_open(upload, known, file)]
        self._settle_all(run, completion, open_files, known)
        origins = self._origin_writes(upload, run.outcomes)
        settled = run.final_results()
        known_results = (*upload.results.values(), *settled.values())
        if run.outage is None and any(result.is_done for result in known_results):
            try:
                asset = self.follow_files(asset, completion, settled)
            except UnavailableError as error:
                run.outage = error
                settled = {}  # so that the next request updates the asset again
        upload = self._release_with_jobs(caller, upload, settled, run.outcomes, origins)
        if run.outage is not None:
            raise run.outage
        if len(run.outcomes) < len(open_files):
            raise UnavailableError(
                f"{len(run.outcomes)} of {len(open_files)} files were processed within one "
                "request: send the same request again"
            )
        return (
            upload,
            asset,
            {p: outcome for p, outcome in run.outcomes.items() if not outcome.settled},
        )

    def settle_large(
        self, upload: Upload, path: str, settled: Settled, origins: Sequence[Write]
    ) -> None:
        """Store the result of a large file, whose job is done.

        Raises:
            UploadBusyError: a request is processing the upload; try again.
        """
        leased = self.context.lease(upload)
        # A repeated step: the first result remains.
        if path in leased.results:
            settled = leased.results[path]
        self._release(Identity(upload.user_id), leased, {path: settled}, {}, origins)

    def progress_of(
        self,
        upload: Upload,
        file: UploadFile,
        outcome: Outcome,
        *,
        cursor: dict[str, Any],
        following: dict[str, Any],
    ) -> Progress:
        """Store the result of a file that was handed over; its job continues at `following`."""
        origins = self._origin_writes(upload, {file.path: outcome})
        error = (outcome.error or "")[:MAX_RESULT_CHARS]
        settled = Settled(error=error, kind=outcome.kind, large=True)
        try:
            self.settle_large(upload, file.path, settled, origins)
        except UploadBusyError:
            return Progress(cursor=cursor, wait_seconds=BUSY_SECONDS)
        except UploadNotFoundError:
            return Progress(finished=True, problems=("the upload no longer exists",))
        problems = (f"{file.path}: {outcome.error}",) if outcome.error else ()
        return Progress(cursor=following, items=1, problems=problems)

    def follow_files(
        self, asset: Asset, completion: Completion, settled: Mapping[str, Settled]
    ) -> Asset:
        """Update the asset from its files."""
        assets = self.context.assets
        if completion.layout.upload_type == "assetPreview":
            keys = [
                completion.layout.final_key(path)
                for path, outcome in settled.items()
                if outcome.is_done
            ]
            return assets.set_content(asset, preview_key=keys[0]) if keys else asset
        # Uploads may end at the same time: the last one to write has read the files of all.
        while (asset_type := self.files.asset_type(asset)) != asset.asset_type:
            asset = assets.set_content(asset, asset_type=asset_type)
        return asset

    def _origin_writes(self, upload: Upload, outcomes: Mapping[str, Outcome]) -> Sequence[Write]:
        """Return the writes that store the origins of files with the results of the upload."""
        written = [
            VersionRef(path, outcome.version_id)
            for path, outcome in outcomes.items()
            if outcome.version_id is not None and upload.upload_type == "assetFile"
        ]
        origin = VersionOrigin(change_source="upload", change_user_id=upload.user_id)
        ref = AssetRef(upload.database_id, upload.asset_id)
        origins = dict.fromkeys(written, origin)
        return OriginRecords(self.files.files).version_writes(ref, origins)

    def _release_with_jobs(
        self,
        caller: Identity,
        upload: Upload,
        settled: Mapping[str, Settled],
        outcomes: Mapping[str, Outcome],
        origins: Sequence[Write],
    ) -> Upload:
        """Release the upload; jobs of the files handed over are created in the same transaction."""
        handed: dict[str, LargeFileJob] = {}
        writes = [*origins]
        for kind in (LARGE_FILES, WAITING_PREVIEWS):
            job_id = kind.job_id(upload.upload_id, upload.attempts)
            of_kind = {
                path: LargeFileJob(job_id=job_id, parts=outcome.handed)
                for path, outcome in outcomes.items()
                if outcome.handed is not None and bool(outcome.awaits) == (kind is WAITING_PREVIEWS)
            }
            if of_kind:
                handed |= of_kind
                # Numbers, because paths of a thousand files would not fit the job's item.
                numbers = [n for n, file in enumerate(upload.files) if file.path in of_kind]
                awaits = sorted(
                    {upload_id for path in of_kind for upload_id in outcomes[path].awaits}
                )
                job = self.context.jobs.new(
                    kind,
                    job_id,
                    caller=caller,
                    database_id=upload.database_id,
                    asset_id=upload.asset_id,
                    parameters={"uploadId": upload.upload_id, "files": numbers}
                    | ({"awaits": awaits} if awaits else {}),
                    items_total=len(numbers),
                )
                writes.append(self.context.jobs.put(job))
        return self._release(caller, upload, settled, handed, writes)

    def _release(
        self,
        caller: Identity,
        upload: Upload,
        settled: Mapping[str, Settled],
        handed: Mapping[str, LargeFileJob],
        writes: Sequence[Write] = (),
    ) -> Upload:
        results = {**upload.results, **settled}
        waiting = {**upload.handed, **handed}
        waiting = {path: outcome for path, outcome in waiting.items() if path not in results}
        status = "completed" if len(results) == len(upload.files) else "initialised"
        changed = settled.keys() - upload.results.keys()
        entry = [self._entry(caller, upload, {p: settled[p] for p in changed})] if changed else []
        until = (
            epoch_seconds(self.context.clock() + timedelta(days=UPLOAD_DAYS)) if handed else None
        )
        self.context.uploads.release(
            upload,
            results=results,
            handed=waiting,
            status=status,
            expires_at=until,
            also=[*writes, *entry],
        )
        update = {"results": results, "handed": waiting, "status": status}
        return upload.model_copy(update=update | ({"expires_at": until} if until else {}))

    def _entry(self, caller: Identity, upload: Upload, settled: Mapping[str, Settled]) -> Write:
        after = {
            "uploadId": upload.upload_id,
            "uploadType": upload.upload_type,
            "files": {path: result.error or "uploaded" for path, result in sorted(settled.items())},
        }
        entity = audit_entity("asset", upload.database_id, upload.asset_id)
        return self.context.audit.entry(
            caller, OPERATION, entity, before={}, after=after, at=self.context.clock()
        )

    def _settle_all(
        self,
        run: _Run,
        completion: Completion,
        files: Sequence[SentFile],
        known: Mapping[str, UploadFile],
    ) -> None:
        """Settle files, previews last, until all are, time is up or S3 does not respond."""

        def settle(file: SentFile) -> None:
            if run.outage is not None or self.context.clock() >= run.stop_at:
                return
            try:
                outcome = completion.settle(known[file.path], file.parts)
            except UnavailableError as error:
                run.outage = error
            else:
                run.outcomes[file.path] = outcome

        # Files first, because a preview needs the file that it belongs to.
        in_parallel(settle, [file for file in files if not is_preview(file.path)])
        in_parallel(settle, [file for file in files if is_preview(file.path)])
        left = {
            path: outcome.left for path, outcome in run.outcomes.items() if outcome.left is not None
        }
        try:
            self.context.objects.delete_many(completion.bucket, list(left.values()))
        except UnavailableError as error:
            run.outage = error
            for path in left:  # the next request finds them stored, and removes the rest
                del run.outcomes[path]
