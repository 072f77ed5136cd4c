"""The answer to a complete, from what is known of each file. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domains.uploads.models import (
    CompleteReply,
    FileResult,
    SentFile,
    Upload,
    UploadFile,
)
from backend.domains.uploads.service.completing import ABANDONED, Outcome

NOT_STARTED = "is not a file of this upload"
OTHER_UPLOAD_ID = "uploadIdS3 is not the one that this file was given"


@dataclass(frozen=True, slots=True)
class Completed:
    """The answer to a complete, and whether no file at all came of it."""

    reply: CompleteReply
    all_failed: bool


def is_open(upload: Upload, known: Mapping[str, UploadFile], sent: SentFile) -> bool:
    """Whether there is something to do for a file."""
    file = known.get(sent.path)
    return (
        file is not None
        and file.upload_id_s3 == sent.upload_id_s3
        and file.path not in upload.results
    )


def completed(
    upload: Upload,
    asset_type: str,
    sent: Sequence[SentFile],
    known: Mapping[str, UploadFile],
    unsettled: Mapping[str, Outcome],
) -> Completed:
    """The answer, from what the upload knows of its files."""

    def error_of(file: SentFile) -> str | None:
        if file.path not in known:
            return NOT_STARTED
        if known[file.path].upload_id_s3 != file.upload_id_s3:
            return OTHER_UPLOAD_ID
        if file.path in unsettled:
            return unsettled[file.path].error
        return upload.results[file.path] or None

    errors = [error_of(file) for file in sent]
    made = errors.count(None)
    failed = len(errors) - made - errors.count(ABANDONED)
    reply = CompleteReply(
        message=f"{made} of {len(errors)} files were uploaded",
        upload_id=upload.upload_id,
        asset_id=upload.asset_id,
        asset_type=asset_type,
        file_results=[
            FileResult(
                relative_key=file.relative_key,
                upload_id_s3=file.upload_id_s3,
                success=error is None,
                error=error,
            )
            for file, error in zip(sent, errors, strict=True)
        ],
        overall_success=failed == 0,
    )
    return Completed(reply, all_failed=failed > 0 and made == 0)
