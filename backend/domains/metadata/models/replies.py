"""Queries and replies of the routes of metadata, also of links; other slices do not load it."""

from typing import Annotated

from pydantic import (
    Field,
    model_validator,
)

from backend.core.models import FullModel, PageQuery, SentModel, WireModel, WrongFieldError
from backend.core.names import AssetId, Form, Id, RelativePath
from backend.domains.metadata.models import MAX_RECORDS, Kind, MetadataKey, SentRecord, UpdateType


class AssetMetadataPath(WireModel):
    database_id: Id
    asset_id: AssetId


class DatabaseMetadataPath(WireModel):
    database_id: Id


VersionNumber = Annotated[str, Form("[0-9]{1,20}", "must be the number of a version, such as 3")]


class AssetMetadataQuery(PageQuery):
    asset_version_id: VersionNumber | None = None
    asset_version_id_alias: Annotated[str | None, Field(min_length=1, max_length=64)] = None

    @model_validator(mode="after")
    def one_version_is_named(self) -> "AssetMetadataQuery":
        if self.asset_version_id is not None and self.asset_version_id_alias is not None:
            fact = "at most one of assetVersionId and assetVersionIdAlias is allowed"
            raise WrongFieldError("assetVersionIdAlias", fact)
        return self


class FileMetadataQuery(AssetMetadataQuery):
    file_path: RelativePath
    type: Kind


class AddAssetMetadataBody(SentModel):
    metadata: Annotated[list[SentRecord], Field(min_length=1, max_length=MAX_RECORDS)]


class AddFileMetadataBody(AddAssetMetadataBody):
    file_path: RelativePath
    type: Kind


class ChangeAssetMetadataBody(AddAssetMetadataBody):
    update_type: UpdateType = "update"


class ChangeFileMetadataBody(AddFileMetadataBody):
    update_type: UpdateType = "update"


class RemoveAssetMetadataBody(WireModel):
    metadata_keys: Annotated[list[MetadataKey], Field(min_length=1, max_length=MAX_RECORDS)]


class RemoveFileMetadataBody(RemoveAssetMetadataBody):
    file_path: RelativePath
    type: Kind


class FailedItem(WireModel):
    key: str
    error: str


class BulkReply(WireModel):
    """The result for each key; `success` is true if at least one item succeeded."""

    success: bool
    total_items: int
    success_count: int
    failure_count: int
    successful_items: list[str]
    failed_items: list[FailedItem]
    message: str
    timestamp: str


class RecordReply(FullModel):
    """A record with what metadata schemas define for it; null without a definition."""

    metadata_key: str
    metadata_value: str
    metadata_value_type: str
    metadata_schema_name: str | None = None
    metadata_schema_field: bool | None = None
    metadata_schema_required: bool | None = None
    metadata_schema_sequence: int | None = None
    metadata_schema_default_value: str | None = None
    metadata_schema_depends_on: list[str] | None = None
    metadata_schema_multi_field_conflict: bool | None = None
    metadata_schema_controlled_list_keys: list[str] | None = None


class DatabaseRecordReply(RecordReply):
    database_id: str


class AssetRecordReply(DatabaseRecordReply):
    asset_id: str


class FileRecordReply(AssetRecordReply):
    file_path: str


class LinkRecordReply(RecordReply):
    asset_link_id: str


AnyRecordReply = FileRecordReply | AssetRecordReply | DatabaseRecordReply | LinkRecordReply


class MetadataReply(WireModel):
    metadata: list[AnyRecordReply]
    restrict_metadata_outside_schemas: bool
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
    message: str
