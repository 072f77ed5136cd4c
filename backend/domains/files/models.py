"""Queries and replies of the routes of files, and the snapshot rows of asset versions."""

from typing import Annotated

from pydantic import Field, model_validator

from backend.core.models import PageQuery, WireModel
from backend.core.names import Text

VersionIdText = Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]
"""An asset version's id: a decimal number."""


VersionAliasText = Annotated[Text, Field(min_length=1, max_length=64)]


class FilesQuery(PageQuery):
    prefix: Text = ""
    include_archived: bool = False
    basic: bool = False
    asset_version_id: VersionIdText | None = None
    asset_version_id_alias: VersionAliasText | None = None

    @model_validator(mode="after")
    def one_version_is_named(self) -> "FilesQuery":
        check_one_version(self.asset_version_id, self.asset_version_id_alias)
        return self


class FileQuery(WireModel):
    file_path: Annotated[Text, Field(min_length=1)]
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
        ValueError: both are given.
    """
    if asset_version_id is not None and alias is not None:
        raise ValueError("at most one of assetVersionId and assetVersionIdAlias is taken")


class FileSnapshot(WireModel):
    """A file as a version of its asset holds it; `file_key` is its path with a leading slash."""

    file_key: str
    version_id: str
    size: int = 0
    last_modified: str = ""
    etag: str = ""


class FileItem(WireModel):
    """A row of the listing; what only a HEAD tells is absent with `basic`, and for folders."""

    file_name: str
    key: str
    relative_path: str
    is_folder: bool
    size: int | None = None
    date_created_current_version: str | None = None
    version_id: str | None = None
    storage_class: str | None = None
    is_archived: bool = False
    current_asset_version_file_version_mismatch: bool | None = None
    is_permanently_deleted: bool = False
    primary_type: str | None = None
    preview_file: str | None = None


class FilesReply(WireModel):
    items: list[FileItem]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class AssetVersionLabel(WireModel):
    """An asset version that holds a file version; the label is its alias, or else its id."""

    id: str
    label: str


class FileVersion(WireModel):
    version_id: str
    last_modified: str
    size: int
    is_latest: bool
    storage_class: str
    etag: str
    is_archived: bool
    current_asset_version_file_version_mismatch: bool
    asset_version_ids: list[AssetVersionLabel]


class FileReply(WireModel):
    """One file; `checksum_sha256` is what the uploader claimed, and `checksum_verified` whether the
    server has read the bytes and found it true."""

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
    primary_type: str | None = None
    preview_file: str | None = None
    checksum_sha256: str | None = None
    checksum_verified: bool | None = None
    versions: list[FileVersion] | None = None
