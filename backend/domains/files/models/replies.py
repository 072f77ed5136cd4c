"""Queries and replies of the routes of files; other slices do not load it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from backend.core.models import SentModel, WireModel, WrongFieldError
from backend.core.names import AssetId, Form, Id, Line
from backend.domains.assets.models import AssetPath
from backend.domains.files.models import FileItem


class FilesReply(WireModel):
    items: list[FileItem]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


# The contract's limit.
MAX_PRIMARY_TYPE_CHARS = 30
PRIMARY_TYPE_OTHER = "other"
PrimaryType = Literal["", "primary", "lod1", "lod2", "lod3", "lod4", "lod5", "other"]

SentPath = Annotated[Line, Field(min_length=1, max_length=2048)]
"""A path or a key in a request. It is resolved within the asset."""


def _is_true(value: bool) -> bool:
    if not value:
        raise ValueError("must be true to confirm an operation that cannot be undone")
    return value


class VersionOfFilePath(AssetPath):
    version_id: Annotated[str, Field(min_length=1, max_length=1024)]


class CreateFolderBody(WireModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"relativeKey": "/scans/"}]})

    relative_key: SentPath

    @field_validator("relative_key")
    @classmethod
    def check_folder(cls, value: str) -> str:
        if not value.endswith("/"):
            raise ValueError("must end with '/'")
        return value


class MoveFileBody(WireModel):
    """The file gets new versions at the destination, also if an archived file is there.

    Such a file must have no metadata, attributes and viewer data, because these have no versions.
    The source remains as an archived file with the earlier versions.
    """

    source_path: SentPath
    destination_path: SentPath


class MoveFolderBody(SentModel):
    """Each file is moved as by `moveFile`; files that cannot be moved remain in the folder.

    Folders that exist at the destination are merged, files are not replaced. The folder itself and
    the folders that it is in cannot be its destination.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sourcePath": "/scans/", "destinationPath": "/2024/"}]}
    )

    source_path: SentPath
    destination_path: SentPath


class CopyFileBody(MoveFileBody):
    """The copy is placed in the same asset or database unless another one is named.

    An archived file at the destination is treated as by a move.
    """

    destination_asset_id: AssetId | None = None
    destination_database_id: Id | None = None


class FileBody(SentModel):
    file_path: SentPath


def check_moment(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("must be a date and time with a time zone, such as 2026-01-31T12:00:00Z")
    return value


class UnarchiveFolderBody(SentModel):
    """With `archivedSince`, only files that were archived at that time or later are restored.

    Without it, files that were moved away are restored at their earlier names, too.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"folderPath": "/scans/"}]})

    folder_path: SentPath
    archived_since: Annotated[str, AfterValidator(check_moment)] | None = None


class ArchiveFileBody(FileBody):
    is_prefix: bool = False


class DeleteFileBody(ArchiveFileBody):
    """Archived files at paths from which the file was moved earlier are not deleted."""

    confirm_permanent_delete: Annotated[bool, AfterValidator(_is_true)]


class SetPrimaryFileBody(FileBody):
    primary_type: PrimaryType
    primary_type_other: (
        Annotated[
            str,
            Field(max_length=MAX_PRIMARY_TYPE_CHARS),
            Form("[ -~]*", "must contain only ASCII letters, digits, signs and spaces"),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def check_other_type(self) -> "SetPrimaryFileBody":
        is_named = bool((self.primary_type_other or "").strip())
        if is_named != (self.primary_type == PRIMARY_TYPE_OTHER):
            fact = "is required if primaryType is 'other', and not allowed otherwise"
            raise WrongFieldError("primaryTypeOther", fact)
        return self

    @property
    def stored_type(self) -> str:
        """Return the type as stored in the object's metadata."""
        other = self.primary_type == PRIMARY_TYPE_OTHER
        return (self.primary_type_other or "").strip() if other else self.primary_type


class FolderReply(WireModel):
    message: str
    relative_key: str


class FilesChangedReply(WireModel):
    """`job_id` names the job that does the remaining work; it is absent if everything is done.

    The job of a folder that is moved is always named, because it reports what was not moved.
    `truncated` is present and true if a folder contains more files than the reply lists.
    """

    success: bool = True
    message: str
    affected_files: list[str]
    truncated: bool | None = None
    job_id: str | None = None


class RevertedReply(WireModel):
    success: bool = True
    message: str
    file_path: str
    reverted_from_version_id: str
    new_version_id: str | None = None
    job_id: str | None = None


class PrimaryFileReply(WireModel):
    success: bool = True
    message: str
    file_path: str
    primary_type: str
    job_id: str | None = None


class PreviewDeletedReply(WireModel):
    success: bool = True
    message: str
    asset_id: str


class AuxiliaryDeletedReply(WireModel):
    success: bool = True
    message: str
    file_path: str
    deleted_count: int
    job_id: str | None = None
