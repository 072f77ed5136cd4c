"""The body and the reply of the route, with the names of the contract."""

from typing import Annotated

from pydantic import Field, field_validator

from backend.core.models import FullModel, OptionalBody, SentModel, WireModel
from backend.core.names import Line, check_extension_list
from backend.core.quoting import quoted

# Assets of a page; its size and time end it earlier (decision 22).
MAX_ASSETS = 1000
MAX_FILES = 10_000  # of a page, as in VAMS 2.6
MAX_EXTENSIONS = 100
# Size from which pages of requests with `maxFiles` are stored, as in VAMS 2.6.
STORED_BYTES = 100 * 1024


class ExportBody(SentModel, OptionalBody):
    """Parts of an asset and the tree below it to export. Later pages require the same flags."""

    generate_presigned_urls: bool = False
    include_folder_files: bool = False
    include_only_primary_type_files: bool = False
    include_file_metadata: bool = True
    include_asset_link_metadata: bool = True
    include_asset_metadata: bool = True
    fetch_asset_relationships: bool = True
    fetch_entire_children_subtrees: bool = False
    include_parent_relationships: bool = False
    include_archived_files: bool = False
    file_extensions: Annotated[list[Line], Field(max_length=MAX_EXTENSIONS)] | None = None
    max_assets: Annotated[int, Field(ge=1, le=MAX_ASSETS)] = 100
    max_files: Annotated[int, Field(ge=1, le=MAX_FILES)] | None = None
    starting_token: str | None = None

    @field_validator("file_extensions")
    @classmethod
    def check_extensions(cls, value: list[str] | None) -> list[str] | None:
        for extension in value or ():
            if not extension or "," in extension:
                raise ValueError(f"{quoted(extension)} is not an extension such as '.glb'")
            check_extension_list(extension)
        return value


class ExportedValue(WireModel):
    value_type: str
    value: str


ExportedValues = dict[str, ExportedValue]


class ExportedFile(FullModel):
    """`is_quarantined` is null if uploads are not scanned; a quarantined file has no URL."""

    file_name: str
    key: str
    relative_path: str
    is_folder: bool
    size: int | None = None
    date_created_current_version: str | None = None
    version_id: str | None = None
    storage_class: str | None = None
    is_archived: bool
    is_quarantined: bool | None = None
    current_asset_version_file_version_mismatch: bool | None = None
    primary_type: str | None = None
    preview_file: str = ""
    metadata: ExportedValues
    attributes: ExportedValues
    presigned_file_download_url: str | None = None
    presigned_file_download_expires_in: int | None = None


class ExportedAsset(WireModel):
    """An asset with those of its files that are on this page.

    If files remain, the next page has the same asset again with more files; `files_truncated` then
    is true. It is absent if the request has no `maxFiles`.
    """

    is_root_lookup_asset: Annotated[bool, Field(alias="is_root_lookup_asset")]
    id: str
    database_id: Annotated[str, Field(alias="databaseid")]
    asset_id: Annotated[str, Field(alias="assetid")]
    bucket_id: Annotated[str, Field(alias="bucketid")]
    asset_name: Annotated[str, Field(alias="assetname")]
    bucket_name: Annotated[str, Field(alias="bucketname")]
    bucket_prefix: Annotated[str, Field(alias="bucketprefix")]
    asset_type: Annotated[str, Field(alias="assettype")]
    description: str
    is_distributable: Annotated[bool, Field(alias="isdistributable")]
    tags: list[str]
    asset_version_id: Annotated[str, Field(alias="asset_version_id")]
    asset_version_createdate: Annotated[str, Field(alias="asset_version_createdate")]
    asset_version_comment: Annotated[str, Field(alias="asset_version_comment")]
    archived: bool
    metadata: ExportedValues
    files: list[ExportedFile]
    files_truncated: Annotated[bool | None, Field(alias="files_truncated")] = None


class UnauthorizedAsset(WireModel):
    """A linked asset that the caller may not see; listed only with the setting
    `NAME_HIDDEN_ASSETS`.
    """

    asset_id: str
    database_id: str
    unauthorized_asset: bool = True


Exported = ExportedAsset | UnauthorizedAsset
"""An asset of the tree."""


class ExportedRelationship(FullModel):
    parent_asset_id: str
    parent_asset_database_id: str
    child_asset_id: str
    child_asset_database_id: str
    asset_link_type: str
    asset_link_id: str
    asset_link_alias_id: str | None = None
    metadata: ExportedValues


class ExportReply(WireModel):
    """A page of an export. Only the first page contains the relationships.

    `unauthorizedAssetCount` (an addition to VAMS) counts the linked assets that the caller may not
    see. `totalAssetsInTree` includes them only if the setting `NAME_HIDDEN_ASSETS` is on.
    """

    assets: list[Exported]
    relationships: list[ExportedRelationship] | None = None
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
    total_assets_in_tree: int
    unauthorized_asset_count: int
    assets_in_this_page: int


class StoredExportReply(FullModel):
    """The location of a page as JSON, for large pages of requests with `maxFiles`, and for pages
    that exceed a reply.

    The URL is also in `Location`. It needs no credentials, and expires after so many seconds.
    """

    message: str = "The page is stored"
    presigned_export_payload_url: str
    presigned_export_payload_expires_in: int
