"""Requests and replies of the API, typed. Wire names are camelCase, here they are snake_case.

Replies keep fields that this version does not know (`model_extra`), so that an older client can
display the replies of a newer server. No I/O.
"""

from enum import StrEnum

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel


class Wire(BaseModel):
    """Base of replies: camelCase aliases, unknown fields kept, values frozen."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True
    )

    def wire(self) -> dict[str, JsonValue]:
        """Return the value with wire names, without fields that the server did not send."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Message(Wire):
    """A reply that only confirms the operation."""

    message: str | None = None


class Version(Wire):
    version: str
    product_version: str | None = None


class Job(Wire):
    """A job; `problems` are messages for people, at most twenty."""

    job_id: str
    kind: str | None = None
    state: str
    database_id: str | None = None
    asset_id: str | None = None
    items_done: int = 0
    items_total: int | None = None
    problems: tuple[str, ...] = ()
    cancellable: bool | None = None
    result: dict[str, JsonValue] | None = None
    created_by: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class Bucket(Wire):
    bucket_id: str
    bucket_name: str
    base_assets_prefix: str | None = None
    default_database_id: str | None = None


class Database(Wire):
    database_id: str
    description: str | None = None
    date_created: str | None = None
    asset_count: int | None = None
    default_bucket_id: str | None = None
    bucket_name: str | None = None
    base_assets_prefix: str | None = None
    restrict_metadata_outside_schemas: bool | None = None
    restrict_file_uploads_to_extensions: str | None = None
    processing: bool | None = None
    deleted_at: str | None = None
    deleted_by: str | None = None
    revision: str | None = Field(default=None, exclude=True)
    """The ETag that this was read with; give it back as `if_match`."""


class DatabaseCreated(Wire):
    database_id: str
    message: str | None = None


class Operation(Wire):
    """The reply of an update."""

    success: bool | None = None
    message: str | None = None
    operation: str | None = None
    timestamp: str | None = None


class TagDeleted(Operation):
    """`job_id` is the job that removes the tag from the assets that have it."""

    job_id: str | None = None


class Location(Wire):
    key: str | None = Field(default=None, alias="Key")


class CurrentVersion(Wire):
    version: str | None = Field(default=None, alias="Version")
    date_modified: str | None = Field(default=None, alias="DateModified")
    comment: str | None = Field(default=None, alias="Comment")
    description: str | None = None
    created_by: str | None = None
    version_alias: str | None = None


class Asset(Wire):
    database_id: str
    asset_id: str
    asset_name: str
    description: str | None = None
    is_distributable: bool | None = None
    tags: tuple[str, ...] | None = None
    asset_type: str | None = None
    status: str | None = None
    bucket_id: str | None = None
    bucket_name: str | None = None
    current_version: CurrentVersion | None = None
    asset_location: Location | None = None
    preview_location: Location | None = None
    archived_at: str | None = None
    archived_by: str | None = None
    archived_reason: str | None = None
    revision: str | None = Field(default=None, exclude=True)
    """The ETag that this was read with; give it back as `if_match`."""


class AssetCreated(Wire):
    asset_id: str
    message: str | None = None


class Tag(Wire):
    tag_name: str
    description: str | None = None
    tag_type_name: str | None = None
    required: str | bool | None = None


class TagType(Wire):
    tag_type_name: str
    description: str | None = None
    required: str | bool | None = None
    tags: tuple[JsonValue, ...] | None = None


class ApiKey(Wire):
    api_key_id: str
    api_key_name: str | None = None
    user_id: str | None = None
    description: str | None = None
    expires_at: str | None = None
    is_active: str | bool | None = None
    api_key: str | None = None
    """The key itself: only in the reply of its creation."""


class FileItem(Wire):
    """One row of `listFiles`."""

    file_name: str
    key: str | None = None
    relative_path: str
    is_folder: bool = False
    size: int | None = None
    date_created_current_version: str | None = None
    version_id: str | None = None
    storage_class: str | None = None
    is_archived: bool | None = None
    primary_type: str | None = None
    preview_file: str | None = None
    etag: str | None = None
    checksum_sha256: str | None = Field(
        default=None, validation_alias=AliasChoices("checksumSha256", "checksum")
    )


class FileVersion(Wire):
    version_id: str
    last_modified: str | None = None
    size: int | None = None
    is_latest: bool | None = None
    storage_class: str | None = None
    etag: str | None = None
    is_archived: bool | None = None


class FileInfo(Wire):
    """A file, as `fileInfo` returns it."""

    file_name: str
    key: str | None = None
    relative_path: str
    is_folder: bool = False
    size: int | None = None
    content_type: str | None = None
    last_modified: str | None = None
    etag: str | None = None
    storage_class: str | None = None
    is_archived: bool | None = None
    primary_type: str | None = None
    preview_file: str | None = None
    version_id: str | None = None
    not_inspected: str | None = None
    versions: tuple[FileVersion, ...] | None = None
    checksum_sha256: str | None = Field(
        default=None, validation_alias=AliasChoices("checksumSha256", "checksum")
    )


class UploadType(StrEnum):
    ASSET_FILE = "assetFile"
    ASSET_PREVIEW = "assetPreview"


class NewFile(Wire):
    """A file to upload; without `num_parts` the server chooses the number of parts."""

    relative_key: str
    file_size: int = Field(validation_alias="file_size", serialization_alias="file_size")
    checksum_sha256: str | None = None
    num_parts: int | None = Field(
        default=None, validation_alias="num_parts", serialization_alias="num_parts"
    )


class PartUrl(Wire):
    part_number: int = Field(alias="PartNumber")
    upload_url: str = Field(alias="UploadUrl")


class PendingFile(Wire):
    """An upload that was started: the URL of each part."""

    relative_key: str
    upload_id_s3: str
    num_parts: int
    part_upload_urls: tuple[PartUrl, ...] = ()


class Upload(Wire):
    upload_id: str
    files: tuple[PendingFile, ...]
    message: str | None = None


class Part(Wire):
    part_number: int = Field(validation_alias="PartNumber", serialization_alias="PartNumber")
    e_tag: str = Field(validation_alias="ETag", serialization_alias="ETag")


class FinishedFile(Wire):
    """A file whose parts are stored; a file without parts is cancelled."""

    relative_key: str
    upload_id_s3: str
    parts: tuple[Part, ...]


class FileResult(Wire):
    relative_key: str
    upload_id_s3: str | None = None
    success: bool
    error: str | None = None
    error_kind: str | None = None
    """`rule`: the server does not want such a file; `failure`: it should be there."""
    large_file_asynchronous_handling: bool | None = None


class UploadResult(Wire):
    upload_id: str | None = None
    asset_id: str | None = None
    asset_type: str | None = None
    message: str | None = None
    file_results: tuple[FileResult, ...]
    overall_success: bool
    large_file_asynchronous_handling: bool | None = None


class Download(Wire):
    download_url: str
    expires_in: int | None = None
    download_type: str | None = None
    version_id: str | None = None
    message: str | None = None


class MetadataType(StrEnum):
    STRING = "string"
    MULTILINE_STRING = "multiline_string"
    INLINE_CONTROLLED_LIST = "inline_controlled_list"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    XYZ = "xyz"
    WXYZ = "wxyz"
    MATRIX4X4 = "matrix4x4"
    GEOPOINT = "geopoint"
    GEOJSON = "geojson"
    LLA = "lla"
    JSON = "json"


class Metadata(Wire):
    """A metadata record to write."""

    metadata_key: str
    metadata_value: str
    metadata_value_type: MetadataType = MetadataType.STRING


class MetadataRecord(Wire):
    """A metadata record as read: with its schema field, and possibly without a value."""

    metadata_key: str
    metadata_value: str | None = None
    metadata_value_type: str | None = None
    metadata_schema_name: str | None = None
    metadata_schema_required: bool | None = None


class FailedItem(Wire):
    key: str
    error: str


class BulkResult(Wire):
    success: bool | None = None
    total_items: int | None = None
    success_count: int | None = None
    failure_count: int | None = None
    successful_items: tuple[JsonValue, ...] = ()
    failed_items: tuple[FailedItem, ...] = ()
    message: str | None = None
    timestamp: str | None = None
