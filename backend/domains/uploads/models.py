"""Uploads as stored, and the bodies and replies of their routes."""

import base64
import binascii
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from backend.core.models import PageQuery, SentModel, WireModel
from backend.core.names import (
    PATH_SCHEMA,
    AssetId,
    Form,
    Id,
    check_new_path,
    normalise_relative_path,
)
from backend.core.part_copies import MAX_PARTS

UploadType = Literal["assetFile", "assetPreview"]
UploadStatus = Literal["initialised", "completed"]
FileState = Literal["open", "working", "done", "failed"]
UploadState = Literal["open", "working", "completed"]
ErrorKind = Literal["rule", "abandoned", "failure"]
"""Why a file was not stored: a rule rejects it, it was cancelled, or storing it failed."""

# The upload id of an empty file. S3 has no multipart uploads of empty objects.
ZERO_BYTE = "zero-byte"

# The prefix of the upload id of a file without parts. S3's upload ids contain no colons.
_SINGLE = "single:"

# The contract's limit.
MAX_FILES = 1000
# Part URLs of one reply (the contract): with a session's token, each has more than a kilobyte of
# the 6 MB.
MAX_URLS = 3000


def _is_path(value: str) -> str:
    """Check a path, but keep it as sent."""
    normalise_relative_path(value)
    # Not the normalised path: clients look in the reply for the one that they sent.
    return value


def _is_new_path(value: str) -> str:
    """As `_is_path`, for a file that the upload may create."""
    check_new_path(value)
    return value


def _is_sha256(value: str) -> str:
    try:
        size = len(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        raise ValueError("is not base64") from None
    if size != 32:
        raise ValueError("must be a SHA-256 of 32 bytes")
    return value


SentPath = Annotated[str, AfterValidator(_is_path), PATH_SCHEMA]
NewPath = Annotated[str, AfterValidator(_is_new_path), PATH_SCHEMA]
Sha256 = Annotated[str, Field(max_length=64), AfterValidator(_is_sha256)]


class NewFile(WireModel):
    """A file to upload; the number of parts is `num_parts`, or computed from its size."""

    relative_key: NewPath
    file_size: Annotated[int | None, Field(alias="file_size", ge=0)] = None
    num_parts: Annotated[int | None, Field(alias="num_parts", ge=0, le=MAX_PARTS)] = None
    checksum_sha256: Sha256 | None = None

    @property
    def path(self) -> str:
        """Return the path in the asset, with its leading slash."""
        return normalise_relative_path(self.relative_key)

    @property
    def is_empty(self) -> bool:
        return self.file_size == 0 or (self.file_size is None and self.num_parts == 0)


class InitialiseBody(WireModel):
    """`maxPartUrls` (an addition to VAMS) limits the URLs in the reply; the client gets the others
    from `renew`.

    Files are then always cut into parts of the default size.
    """

    database_id: Id
    asset_id: AssetId
    upload_type: UploadType
    files: Annotated[list[NewFile], Field(min_length=1, max_length=MAX_FILES)]
    max_part_urls: Annotated[int | None, Field(ge=0, le=MAX_URLS)] = None


class PartUrl(WireModel):
    part_number: Annotated[int, Field(alias="PartNumber")]
    upload_url: Annotated[str, Field(alias="UploadUrl")]


class StartedUploadFile(WireModel):
    relative_key: str
    upload_id_s3: str
    num_parts: int
    part_upload_urls: list[PartUrl]


class InitialiseReply(WireModel):
    upload_id: str
    files: list[StartedUploadFile]
    message: str


class SentPart(WireModel):
    part_number: Annotated[int, Field(alias="PartNumber", ge=1, le=MAX_PARTS)]
    etag: Annotated[str, Field(alias="ETag", min_length=1, max_length=128)]


class SentFile(SentModel):
    """A file with its stored parts; a file without parts is cancelled."""

    relative_key: SentPath
    upload_id_s3: Annotated[str, Field(min_length=1, max_length=2048)]
    parts: Annotated[list[SentPart], Field(max_length=MAX_PARTS)] = []

    @property
    def path(self) -> str:
        """Return the path in the asset, with its leading slash."""
        return normalise_relative_path(self.relative_key)


class CompleteBody(WireModel):
    database_id: Id
    asset_id: AssetId
    upload_type: UploadType
    files: Annotated[list[SentFile], Field(min_length=1, max_length=MAX_FILES)]


class FileResult(WireModel):
    """The result for one file. A large file is reported as successful once its processing is
    queued.
    """

    relative_key: str
    upload_id_s3: str
    success: bool
    error: str | None = None
    error_kind: ErrorKind | None = None
    large_file_asynchronous_handling: bool = False


class CompleteReply(WireModel):
    message: str
    upload_id: str
    asset_id: str
    asset_type: str
    file_results: list[FileResult]
    overall_success: bool
    large_file_asynchronous_handling: bool = False


class MessageReply(WireModel):
    message: str


class PartRange(WireModel):
    """A range of part numbers; `last` is included."""

    first: Annotated[int, Field(ge=1, le=MAX_PARTS)]
    last: Annotated[int, Field(ge=1, le=MAX_PARTS)]


class RenewedFile(WireModel):
    """A file that is still uploading, and the parts that need a URL."""

    relative_key: SentPath
    part_ranges: Annotated[list[PartRange], Field(max_length=MAX_URLS)] = []

    @property
    def path(self) -> str:
        """Return the path in the asset, with its leading slash."""
        return normalise_relative_path(self.relative_key)


class RenewBody(WireModel):
    """`storedParts` requests the list of stored parts: one request to S3 per thousand parts."""

    files: Annotated[list[RenewedFile], Field(min_length=1, max_length=MAX_FILES)]
    stored_parts: bool = True


class StoredPart(WireModel):
    part_number: Annotated[int, Field(alias="PartNumber")]
    etag: Annotated[str, Field(alias="ETag")]
    size: Annotated[int, Field(alias="Size")]


class RenewedFileReply(WireModel):
    """`assembled`: the parts have been combined already, so they can no longer be listed."""

    relative_key: str
    upload_id_s3: str
    num_parts: int
    part_upload_urls: list[PartUrl]
    stored_parts: list[StoredPart] = []
    assembled: bool = False


class RenewReply(WireModel):
    upload_id: str
    expires_in: int
    files: list[RenewedFileReply]
    message: str


class UploadedFile(WireModel):
    """The current state of a file in an upload."""

    relative_key: str
    upload_id_s3: str
    num_parts: int
    file_size: Annotated[int | None, Field(alias="file_size")] = None
    state: FileState
    error: str | None = None
    error_kind: ErrorKind | None = None
    large_file_asynchronous_handling: bool = False


class UploadReply(WireModel):
    upload_id: str
    database_id: str
    asset_id: str
    upload_type: UploadType
    user_id: str
    state: UploadState
    created_at: str
    expires_at: str
    files: list[UploadedFile]
    large_file_asynchronous_handling: bool = False


class UploadsQuery(PageQuery):
    """A page of the caller's uploads."""

    most_items = 50  # each is read with its files


class UploadSummary(WireModel):
    """An upload without its files: how many there are, and their size as announced."""

    upload_id: str
    database_id: str
    asset_id: str
    upload_type: UploadType
    state: UploadState
    created_at: str
    expires_at: str
    files: int
    files_done: int
    files_failed: int
    size: int


class UploadsReply(WireModel):
    """Uploads that the caller started, newest first, until they expire. Uploads to assets that the
    caller may not see any more are left out. An upload may be missing for a moment after its start.
    """

    items: list[UploadSummary]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


UploadId = Annotated[str, Form("[A-Za-z0-9-]{1,64}", "must be 1 to 64 letters, digits or '-'")]


class UploadPath(WireModel):
    upload_id: UploadId


def single_id(name: str) -> str:
    """Return the upload id in the name of a temporary object that is uploaded whole."""
    return _SINGLE + name


class UploadFile(WireModel):
    """A file of an upload as stored; `path` has a leading slash."""

    path: str
    upload_id_s3: str
    num_parts: int
    size: int | None = None
    checksum_sha256: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.upload_id_s3 == ZERO_BYTE

    @property
    def is_single(self) -> bool:
        """Return whether it is uploaded whole to its temporary key, without a multipart upload."""
        return self.upload_id_s3.startswith(_SINGLE)


class Settled(WireModel):
    """The final result for a file."""

    error: str = ""
    kind: ErrorKind = "failure"
    large: bool = False

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: object) -> object:
        """Parse rows of the first release, which contain only the error."""
        return {"error": value} if isinstance(value, str) else value

    @property
    def is_done(self) -> bool:
        return not self.error


class LargeFileJob(WireModel):
    """A large file that a worker completes: the job's id, and a digest of its parts.

    `stalled` is why the job ended before its file; it is not stored.
    """

    job_id: str
    parts: str
    stalled: str | None = None


class Upload(WireModel):
    """An upload. `results` are the final results by path; `handed` are large files.

    `lease_until` (milliseconds since 1970) is when another request may process it; `attempts`
    counts the requests that started.
    """

    upload_id: str
    asset_id: str
    database_id: str
    user_id: Annotated[str, Field(alias="UserId")]
    upload_type: UploadType
    status: UploadStatus = "initialised"
    created_at: str
    expires_at: int
    lease_until: int = 0
    attempts: int = 0
    files: list[UploadFile]
    results: dict[str, Settled] = {}
    handed: dict[str, LargeFileJob] = {}

    def may_complete(self, path: str, *, now: int) -> bool:
        """Return whether a file of this path may still be completed (`now`: seconds since 1970)."""
        is_named = any(file.path == path for file in self.files)
        return is_named and path not in self.results and self.expires_at > now

    def is_open(self, path: str) -> bool:
        """Return whether requests still have to process a file."""
        return path not in self.results and path not in self.handed
