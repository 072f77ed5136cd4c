"""Converts the body of an ingest to those of the services it uses, and their replies back. Pure."""

from collections.abc import Sequence

from backend.core.errors import FieldError, InvalidInputError
from backend.core.names import check_new_path
from backend.domains.assets.models import CreateAssetBody
from backend.domains.ingest.models import IngestBody, IngestFile
from backend.domains.uploads.models import (
    CompleteBody,
    FileResult,
    InitialiseBody,
    NewFile,
    SentFile,
    StartedUploadFile,
)

# As of other bodies (`http.bodies`).
_SHOWN = 20


def asset_of(body: IngestBody) -> CreateAssetBody:
    """Return the asset in the first request of an ingest.

    Raises:
        InvalidInputError: the message names the missing fields.
    """
    if body.asset_name is None or body.description is None:
        needed = {"assetName": body.asset_name, "description": body.description}
        fields = [
            FieldError(name, "is required") for name, value in needed.items() if value is None
        ]
        raise _error(fields)
    return CreateAssetBody(
        database_id=body.database_id,
        asset_id=body.asset_id,
        asset_name=body.asset_name,
        description=body.description,
        is_distributable=body.is_distributable,
        tags=body.tags,
    )


def started_upload(body: IngestBody) -> InitialiseBody:
    """Return the upload in the first request of an ingest.

    Raises:
        InvalidInputError: the message names each file whose key does not begin with the asset's id,
            or is not a path.
    """
    paths = _paths(body)
    files = [
        NewFile(
            relative_key=path,
            file_size=file.file_size,
            num_parts=file.num_parts,
            checksum_sha256=file.checksum_sha256,
        )
        for path, file in zip(paths, body.files, strict=True)
    ]
    return InitialiseBody(
        database_id=body.database_id,
        asset_id=body.asset_id,
        upload_type="assetFile",
        files=files,
    )


def completed_upload(body: IngestBody) -> CompleteBody:
    """Return the completion in the second request of an ingest.

    Raises:
        InvalidInputError: as `started_upload`; or a file names no upload of S3.
    """
    paths = _paths(body)
    wrong = [
        FieldError(f"files.{number}.uploadIdS3", "is required")
        for number, file in enumerate(body.files)
        if file.upload_id_s3 is None
    ]
    _refuse(wrong)
    files = [
        SentFile(relative_key=path, upload_id_s3=file.upload_id_s3 or "", parts=file.parts)
        for path, file in zip(paths, body.files, strict=True)
    ]
    return CompleteBody(
        database_id=body.database_id,
        asset_id=body.asset_id,
        upload_type="assetFile",
        files=files,
    )


def started_by_key(
    started: Sequence[StartedUploadFile], sent: Sequence[IngestFile]
) -> list[StartedUploadFile]:
    """Return started files, in order, under the names that the client used."""
    pairs = zip(started, sent, strict=True)
    return [reply.model_copy(update={"relative_key": file.relative_key}) for reply, file in pairs]


def results_by_key(results: Sequence[FileResult], sent: Sequence[IngestFile]) -> list[FileResult]:
    """As `started_by_key`, for the results of files."""
    pairs = zip(results, sent, strict=True)
    return [reply.model_copy(update={"relative_key": file.relative_key}) for reply, file in pairs]


def _paths(body: IngestBody) -> list[str]:
    """Return the files' paths in the asset, with a leading slash."""
    beginning = f"{body.asset_id}/"
    wrong: list[FieldError] = []
    paths: list[str] = []
    for number, file in enumerate(body.files):
        problem = f"must begin with {beginning}"
        if file.relative_key.startswith(beginning):
            problem, path = _path("/" + file.relative_key.removeprefix(beginning))
            paths.append(path)
        if problem:
            wrong.append(FieldError(f"files.{number}.relativeKey", problem))
    _refuse(wrong)
    return paths


def _path(path: str) -> tuple[str, str]:
    """Return the problem of a path, if there is one, and the path."""
    try:
        return "", check_new_path(path)
    except ValueError as error:
        return str(error), ""


def _refuse(wrong: Sequence[FieldError]) -> None:
    if wrong:
        raise _error(wrong)


def _error(wrong: Sequence[FieldError]) -> InvalidInputError:
    shown = wrong[:_SHOWN]
    return InvalidInputError(
        "; ".join(f"{f.field}: {f.message}" for f in shown), fields=tuple(shown)
    )
