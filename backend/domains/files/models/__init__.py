"""Files as replies return them, their changes, and the snapshot rows of asset versions."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from backend.core.models import PageQuery, WireModel, WrongFieldError, sizes_text
from backend.core.names import AnyText, Line, VersionIdText

VersionAliasText = Annotated[Line, Field(min_length=1, max_length=64)]


_BASIC_ITEMS = 1500  # as in the contract


class FilesQuery(PageQuery):
    default_items = 100  # as in the contract

    prefix: AnyText = ""
    include_archived: bool = False
    basic: bool = Field(
        default=False,
        description=f"Omit what is read for each file. Items of a page: {sizes_text(_BASIC_ITEMS)}",
    )
    asset_version_id: VersionIdText | None = None
    asset_version_id_alias: VersionAliasText | None = None

    @property
    def limit(self) -> int:
        return self._limit(_BASIC_ITEMS) if self.basic else super().limit

    @model_validator(mode="after")
    def one_version_is_named(self) -> "FilesQuery":
        check_one_version(self.asset_version_id, self.asset_version_id_alias)
        return self


class FileQuery(WireModel):
    file_path: Annotated[Line, Field(min_length=1)]
    include_versions: bool = False
    asset_version_id: VersionIdText | None = None
    asset_version_id_alias: VersionAliasText | None = None

    @model_validator(mode="after")
    def one_version_is_named(self) -> "FileQuery":
        check_one_version(self.asset_version_id, self.asset_version_id_alias)
        return self


def check_one_version(asset_version_id: str | None, alias: str | None) -> None:
    """Refuse two names of an asset version.

    Raises:
        WrongFieldError: both are set.
    """
    if asset_version_id is not None and alias is not None:
        fact = "at most one of assetVersionId and assetVersionIdAlias is allowed"
        raise WrongFieldError("assetVersionIdAlias", fact)


class FileSnapshot(WireModel):
    """A file in a version of its asset; `file_key` is its path with a leading slash."""

    file_key: str
    version_id: str
    size: int = 0
    last_modified: str = ""
    etag: str = ""


FileChangeSource = Literal[
    "upload",
    "workflowExecution",
    "fileCopy",
    "fileMove",
    "fileRename",
    "fileArchive",
    "fileUnarchive",
    "fileRevert",
    "fileMetadataUpdate",
    "assetArchive",
]


class FileOrigin(WireModel):
    """The origin of a version of a file: its user and the kind of change. Absent if another program
    or an earlier release wrote it.
    """

    change_source: FileChangeSource | None = None
    change_user_id: str | None = None
    change_workflow_database_id: str | None = None
    change_workflow_id: str | None = None
    change_workflow_execution_id: str | None = None


class VersionOrigin(FileOrigin):
    """With the version that was copied, if the caller may see its asset."""

    change_database_id_from: str | None = None
    change_asset_id_from: str | None = None
    change_asset_file_path_from: str | None = None
    change_asset_file_version_from: str | None = None


class FileItem(FileOrigin):
    """A row of the file list. With `basic`, and for folders, the fields that require requests for
    each file are absent.

    `is_quarantined` is also absent if uploads are not scanned.
    """

    file_name: str
    key: str
    relative_path: str
    is_folder: bool
    size: int | None = None
    date_created_current_version: str | None = None
    version_id: str | None = None
    etag: str | None = None
    storage_class: str | None = None
    is_archived: bool = False
    current_asset_version_file_version_mismatch: bool | None = None
    is_permanently_deleted: bool = False
    is_quarantined: bool | None = None
    primary_type: str | None = None
    preview_file: str | None = None


class AssetVersionLabel(WireModel):
    """An asset version that contains a file version; the label is its alias, or its id without
    one.
    """

    id: str
    label: str


class FileVersion(VersionOrigin):
    version_id: str
    last_modified: str
    size: int
    is_latest: bool
    storage_class: str
    etag: str
    is_archived: bool
    is_quarantined: bool | None = None
    current_asset_version_file_version_mismatch: bool
    asset_version_ids: list[AssetVersionLabel]


class FileReply(FileOrigin):
    """A file. `checksum_sha256` is the checksum sent by the uploader; `checksum_verified` is true
    once the server has read the bytes and confirmed it. `is_quarantined` is true if a malware
    scan found a threat in this version; it is absent if uploads are not scanned. `not_inspected`
    is the reason why such a file has no facts, thumbnail or GLB; it
    is absent if uploads of such files are inspected.
    """

    file_name: str
    key: str
    relative_path: str
    is_folder: bool
    size: int | None = None
    content_type: str | None = None
    last_modified: str | None = None
    etag: str | None = None
    storage_class: str | None = None
    version_id: str | None = None
    is_archived: bool = False
    is_quarantined: bool | None = None
    primary_type: str | None = None
    preview_file: str | None = None
    checksum_sha256: str | None = None
    checksum_verified: bool | None = None
    not_inspected: str | None = None
    versions: list[FileVersion] | None = None


FileOperation = Literal[
    "createFolder",
    "moveFile",
    "moveFolder",
    "copyFile",
    "archiveFile",
    "unarchiveFile",
    "unarchiveFolder",
    "deleteFile",
    "revertFileVersion",
    "setPrimaryFile",
    "deleteAuxiliaryPreviewAssetFiles",
]


class FileChange(WireModel):
    """The parameters of a job that changes files.

    Paths begin with `/`, those of folders end in it. The job's asset is the one whose files change;
    `source_…` names another one that they are copied from.
    """

    operation: FileOperation
    path: str
    is_prefix: bool = False
    target_path: str | None = None
    source_database_id: str | None = None
    source_asset_id: str | None = None
    version_id: str | None = None
    primary_type: str | None = None
    archived_since: str | None = None

    @property
    def described_paths(self) -> tuple[str, ...]:
        """Return the paths, of files or folders, whose metadata the change writes or deletes."""
        match self.operation:
            case "moveFile" | "moveFolder":
                return self.path, self.target_path or ""
            case "copyFile":
                return (self.target_path or "",)
            case "deleteFile":
                return (self.path,)
            case _:
                return ()


class ChangeCursor(WireModel):
    """The progress of a change of files.

    `version_id` is the version that is copied, `copy_id` the multipart upload of a large copy,
    `made` the version that was written; `turn` counts the versions that were copied because new
    ones were added meanwhile. `auxiliary` means that only the auxiliary files of a copy are
    missing, `withdrawing` that the copy is complete. `after` is the last key of a listing that was
    processed.

    While a folder moves, `files` are the cursors of the files that are being moved, by path; `left`
    counts the files that were not moved, and `listed` means that no more are to be moved.
    """

    version_id: str | None = None
    copy_id: str | None = None
    made: str | None = None
    turn: int = 0
    auxiliary: bool = False
    withdrawing: bool = False
    after: str | None = None
    files: dict[str, "ChangeCursor"] | None = None
    left: int = 0
    listed: bool = False
