"""Limits and types that requests on versions and snapshots share."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from backend.core.invisible import check_visible
from backend.core.models import SentModel, WireModel
from backend.core.names import Line, RelativePath, VersionIdText, Words
from backend.domains.assets.models import AssetPath
from backend.domains.jobs.models import JobState
from backend.values import frozen

# The contract's limits: a comment may be longer when it is changed than when it is created (256).
MAX_LATER_COMMENT_CHARS = 1024
MAX_ALIAS_CHARS = 64

Operation = Literal["create", "update", "revert", "archive", "unarchive"]
Kind = Literal["metadata", "attribute"]


def _checked_alias(value: str) -> str:
    """Check an alias of a version.

    Raises:
        ValueError: it looks like a version's id, or has spaces at its ends or invisible characters.
    """
    if value.isdecimal():
        raise ValueError("must not be a number, because numbers are version ids")
    if value != value.strip():
        raise ValueError("must not begin or end with a space")
    return check_visible(value)


Alias = Annotated[Line, Field(max_length=MAX_ALIAS_CHARS), AfterValidator(_checked_alias)]


class VersionPath(AssetPath):
    asset_version_id: VersionIdText


class NamedFile(SentModel):
    """A file to include in the version; archived files are skipped."""

    relative_key: RelativePath
    version_id: Annotated[Line, Field(min_length=1, max_length=1024)]
    is_archived: bool = False


class UpdateVersionBody(WireModel):
    """The fields to change, at least one; an empty alias removes it."""

    comment: Annotated[Words, Field(min_length=1, max_length=MAX_LATER_COMMENT_CHARS)] | None = None
    version_alias: Alias | None = None

    @model_validator(mode="after")
    def require_change(self) -> "UpdateVersionBody":
        if self.comment is None and self.version_alias is None:
            raise ValueError("at least one of comment and versionAlias is required")
        return self


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
