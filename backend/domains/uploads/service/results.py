"""Replies about the files of an upload. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from backend.core.clock import iso
from backend.domains.uploads.models import (
    CompleteReply,
    FileResult,
    FileState,
    SentFile,
    Settled,
    Upload,
    UploadedFile,
    UploadFile,
    UploadReply,
    UploadState,
    UploadSummary,
)
from backend.domains.uploads.service.completion import Outcome
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
