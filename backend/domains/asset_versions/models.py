"""The bodies and replies of the routes of versions, and the state of their jobs."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, field_validator, model_validator

from backend.core.invisible import check_visible
from backend.core.models import FullModel, PageQuery, SentModel, WireModel, WrongFieldError
from backend.core.names import Line, RelativePath, VersionIdText, Words
from backend.domains.assets.models import AssetPath
from backend.domains.jobs.models import JobState
from backend.values import frozen

MAX_FILES = 10_000
"""Files that one request may name; `useLatestFiles` has no limit."""
MAX_COMMENT_CHARS = 256
MAX_LATER_COMMENT_CHARS = 1024
MAX_ALIAS_CHARS = 64

Comment = Annotated[Words, Field(min_length=1, max_length=MAX_COMMENT_CHARS)]
Alias = Annotated[Line, Field(max_length=MAX_ALIAS_CHARS)]
Operation = Literal["create", "update", "revert", "archive", "unarchive"]
Source = Literal["latest", "named", "version"]
Kind = Literal["metadata", "attribute"]


def _is_no_number(value: str) -> str:
    if value.isdecimal():
        raise ValueError("must not be a number, because numbers are version ids")
    if value != value.strip():
        raise ValueError("must not begin or end with a space")
    return check_visible(value)


class VersionPath(AssetPath):
    asset_version_id: VersionIdText


class NamedFile(SentModel):
    """A file to include in the version; archived files are skipped."""

    relative_key: RelativePath
    version_id: Annotated[Line, Field(min_length=1, max_length=1024)]
    is_archived: bool = False


class CreateVersionBody(SentModel):
    """Either all current files, or the files that are listed."""

    comment: Comment
    use_latest_files: bool = False
    files: Annotated[list[NamedFile] | None, Field(max_length=MAX_FILES)] = None
    version_alias: Alias | None = None

    @field_validator("version_alias")
    @classmethod
    def alias_is_no_number(cls, value: str | None) -> str | None:
        return value if value is None else _is_no_number(value)

    @model_validator(mode="after")
    def check_files(self) -> "CreateVersionBody":
        if self.use_latest_files == bool(self.files):
            fact = "either useLatestFiles (true) or files is required, not both"
            raise WrongFieldError("files", fact)
        return self


class UpdateVersionBody(WireModel):
    """The fields to change, at least one; an empty alias removes it."""

    comment: Annotated[Words, Field(min_length=1, max_length=MAX_LATER_COMMENT_CHARS)] | None = None
    version_alias: Alias | None = None

    @field_validator("version_alias")
    @classmethod
    def alias_is_no_number(cls, value: str | None) -> str | None:
        return value if value is None else _is_no_number(value)

    @model_validator(mode="after")
    def require_change(self) -> "UpdateVersionBody":
        if self.comment is None and self.version_alias is None:
            raise ValueError("at least one of comment and versionAlias is required")
        return self


class RevertBody(SentModel):
    comment: Comment
    revert_metadata: bool = False


class VersionsQuery(PageQuery):
    show_archived: bool = False


class WholeVersionQuery(PageQuery):
    """A version is returned whole, or in pages if it is large."""

    most_items = 20_000  # files and records; the size of the reply ends it before


class CompareQuery(PageQuery):
    """The two versions, by their ids."""

    before: Annotated[VersionIdText, Field(alias="from")]
    after: Annotated[VersionIdText, Field(alias="to")]


class VersionReply(WireModel):
    """The operation reply. A version that is still being created has a `job_id`; it is listed
    when that job is done.
    """

    success: bool = True
    message: str
    asset_id: str
    asset_version_id: str | None = None
    operation: Operation
    timestamp: str
    skipped_files: list[str] | None = None
    job_id: str | None = None
    job_state: JobState | None = None


class ListedVersion(WireModel):
    version: Annotated[str, Field(alias="Version")]
    date_modified: Annotated[str, Field(alias="DateModified")]
    comment: Annotated[str, Field(alias="Comment")]
    description: str
    created_by: str
    is_current: bool
    file_count: int
    version_alias: str
    is_archived: bool
    asset_id: str
    database_id: str


class VersionsReply(WireModel):
    versions: list[ListedVersion]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class VersionFile(FullModel):
    """A file of a version, and its current state in the bucket."""

    relative_key: str
    version_id: str
    is_permanently_deleted: bool
    is_latest_version_archived: bool
    size: int | None = None
    last_modified: str | None = None
    etag: str | None = None


class VersionRecord(WireModel):
    type: Kind
    file_path: str
    metadata_key: str
    metadata_value: str
    metadata_value_type: str


class WholeVersionReply(WireModel):
    asset_id: str
    asset_version_id: str
    database_id: str
    date_created: str
    comment: str
    description: str
    created_by: str
    version_alias: str
    is_archived: bool
    is_current: bool
    file_count: int
    files: list[VersionFile]
    versioned_metadata: list[VersionRecord]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class FileSide(WireModel):
    """A file as one of the two versions contains it."""

    version_id: str
    size: int
    etag: str


class FileDifference(WireModel):
    relative_key: str
    before: Annotated[FileSide | None, Field(alias="from")] = None
    after: Annotated[FileSide | None, Field(alias="to")] = None


class RecordSide(WireModel):
    metadata_value: str
    metadata_value_type: str


class RecordDifference(WireModel):
    file_path: str
    metadata_key: str
    before: Annotated[RecordSide | None, Field(alias="from")] = None
    after: Annotated[RecordSide | None, Field(alias="to")] = None


class FileDifferences(WireModel):
    added: list[FileDifference]
    removed: list[FileDifference]
    changed: list[FileDifference]


class RecordDifferences(WireModel):
    added: list[RecordDifference]
    removed: list[RecordDifference]
    changed: list[RecordDifference]


class GeometryDifference(WireModel):
    """A geometry fact that differs, such as `triangles`; null for a version without a value."""

    file_path: str
    fact: str
    before: Annotated[float | bool | str | None, Field(alias="from")] = None
    after: Annotated[float | bool | str | None, Field(alias="to")] = None


class CompareReply(WireModel):
    """The differences between two versions, in pages if there are many.

    `geometry` repeats the differing attributes that are geometry facts, with typed values.
    """

    asset_id: str
    database_id: str
    before: Annotated[str, Field(alias="from")]
    after: Annotated[str, Field(alias="to")]
    files: FileDifferences
    metadata: RecordDifferences
    attributes: RecordDifferences
    geometry: list[GeometryDifference]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


@frozen
class HeldFile:
    """A file in a snapshot; `path` has a leading slash."""

    path: str
    version_id: str
    size: int = 0
    last_modified: str = ""
    etag: str = ""


@frozen
class HeldRecord:
    """A metadata record or an attribute in a snapshot."""

    kind: Kind
    path: str
    key: str
    value: str
    value_type: str


class VersionPlan(WireModel):
    """The parameters of a job that creates a version.

    `request_id` identifies data of this job alone: the list of the requested files, and the copies
    of a revert.
    """

    # Jobs that an earlier release started have it under its old name.
    request_id: Annotated[str, Field(validation_alias=AliasChoices("requestId", "snapshotId"))]
    asset_created_at: str
    operation: Literal["create", "revert"] = "create"
    source: Source
    comment: str
    version_alias: str = ""
    pages: int = 0
    """Number of pages of files that the request named."""
    of_version: str | None = None
    of_snapshot: str | None = None
    revert_metadata: bool = False


class Capture(WireModel):
    """The progress of a version's creation: the cursor of the job.

    `number` is the version's id, which is drawn before the first step; all rows are written under
    it. A resumed job draws another one.
    `problem` is why the creation was aborted, while its rows are removed. `records` counts the live
    metadata that was read, `looks` how often the job waited for its index. `copy_id` identifies the
    unfinished copy of a large file, the one after `after`. `attempted`: the files after `after` may
    have been copied already; `again`: any file may, because the job was resumed. `files` counts
    those of the snapshot; `skipped` names files that were skipped, as many as fit, and
    `skipped_count` counts them all.
    """

    part: Literal[
        "files", "records", "restore", "clear", "metadata", "attribute", "count", "commit", "sweep"
    ] = "files"
    number: str = ""
    problem: str = ""
    after: dict[str, Any] | None = None
    copy_id: str | None = None
    attempted: bool = False
    again: bool = False
    records: int = 0
    looks: int = 0
    files: int = 0
    skipped: list[str] = Field(default_factory=list)
    skipped_count: int = 0


class CreatedVersion(WireModel):
    """The created version: the result of the job."""

    asset_version_id: str
    at: str
    skipped: list[str] = Field(default_factory=list)
    skipped_count: int = 0
