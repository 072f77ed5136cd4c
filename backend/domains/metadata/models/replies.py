"""Queries and replies of the routes of metadata, also of links; other slices do not load it."""

from itertools import pairwise
from typing import Annotated

from pydantic import (
    BeforeValidator,
    Field,
    model_validator,
)

from backend.core.metadata_values import ValueType
from backend.core.models import FullModel, PageQuery, SentModel, WireModel, WrongFieldError
from backend.core.names import AssetId, Form, Id, RelativePath
from backend.domains.metadata.models import (
    MAX_RECORDS,
    Kind,
    MetadataKey,
    SentRecord,
    UpdateType,
    in_lower_case,
)
from backend.spec import routes
from backend.spec.routes import Route


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
    total_items: Annotated[int, Field(examples=[2])]
    success_count: int
    failure_count: int
    successful_items: list[str]
    failed_items: list[FailedItem]
    message: str
    timestamp: str


MAX_ENTITIES = 50
MAX_ENTITY_VALUES = 90
"""Records of an entity that one transaction has room for, with some defaults of schemas."""
MAX_BATCH_VALUES = 1000


class EditedRecord(SentModel):
    """A record to write. `expectedValue` is its current value; none if there is no such record."""

    metadata_key: MetadataKey
    metadata_value_type: Annotated[ValueType, BeforeValidator(in_lower_case)] = "string"
    metadata_value: str
    expected_value: str | None = None


class RemovedRecord(SentModel):
    """A record to remove, and its current value."""

    metadata_key: MetadataKey
    expected_value: str


class EntityName(WireModel):
    """A database, an asset, a file or a link: only with the fields that identify it."""

    database_id: Id | None = None
    asset_id: AssetId | None = None
    file_path: RelativePath | None = None
    type: Kind | None = None
    asset_link_id: Id | None = None


class EditedEntity(EntityName, SentModel):
    """The changes of one entity, in one transaction. `type` is `metadata` by default."""

    metadata: Annotated[list[EditedRecord], Field(max_length=MAX_ENTITY_VALUES)]
    removals: Annotated[list[RemovedRecord], Field(max_length=MAX_ENTITY_VALUES)] = []

    @property
    def path(self) -> dict[str, str]:
        """Return the parameters of the paths of the entity's own routes."""
        ids = {"databaseId": self.database_id, "assetId": self.asset_id}
        ids["assetLinkId"] = self.asset_link_id
        return {name: value for name, value in ids.items() if value is not None}

    @property
    def routes(self) -> tuple[Route, ...]:
        """Return the routes that would change the entity alone, and read it: conflicts do."""
        if self.asset_link_id is not None:
            read, update = routes.GET_LINK_METADATA, routes.UPDATE_LINK_METADATA
            remove = routes.DELETE_LINK_METADATA
        elif self.asset_id is None:
            read, update = routes.GET_DATABASE_METADATA, routes.UPDATE_DATABASE_METADATA
            remove = routes.DELETE_DATABASE_METADATA
        elif self.file_path is None:
            read, update = routes.GET_ASSET_METADATA, routes.UPDATE_ASSET_METADATA
            remove = routes.DELETE_ASSET_METADATA
        else:
            read, update = routes.GET_FILE_METADATA, routes.UPDATE_FILE_METADATA
            remove = routes.DELETE_FILE_METADATA
        return (read, *([update] if self.metadata else []), *([remove] if self.removals else []))

    @model_validator(mode="after")
    def is_one_entity(self) -> "EditedEntity":
        names = ("databaseId", "assetId", "filePath", "type")
        values = (self.database_id, self.asset_id, self.file_path, self.type)
        for (parent, field), (before, value) in zip(pairwise(names), pairwise(values), strict=True):
            if value is not None and before is None:
                raise WrongFieldError(field, f"requires {parent}")
        if (self.database_id is None) is (self.asset_link_id is None):
            raise WrongFieldError("databaseId", "or assetLinkId is required, and not both")
        count = len(self.metadata) + len(self.removals)
        if not 1 <= count <= MAX_ENTITY_VALUES:
            fact = f"and removals must have 1 to {MAX_ENTITY_VALUES} keys together, not {count}"
            raise WrongFieldError("metadata", fact)
        return self


class EditMetadataBody(SentModel):
    """Entities to change, each in a transaction of its own. All together at most 1,000 keys."""

    entities: Annotated[list[EditedEntity], Field(min_length=1, max_length=MAX_ENTITIES)]

    @model_validator(mode="after")
    def has_each_entity_once(self) -> "EditMetadataBody":
        count = sum(len(entity.metadata) + len(entity.removals) for entity in self.entities)
        if count > MAX_BATCH_VALUES:
            fact = f"must have at most {MAX_BATCH_VALUES} keys together, not {count}"
            raise WrongFieldError("entities", fact)
        seen: set[object] = set()
        for number, entity in enumerate(self.entities):
            of_file = None if entity.file_path is None else entity.type or "metadata"
            name = (entity.database_id, entity.asset_id, entity.file_path, of_file)
            name = (*name, entity.asset_link_id)
            if name in seen:
                raise WrongFieldError(f"entities.{number}", "is listed twice in this request")
            seen.add(name)
        return self


class CheckedEdit(SentModel):
    """The records of an entity, whose values are checked apart from those of others."""

    metadata: list[SentRecord]


class WrongField(WireModel):
    field: str
    message: str


class ChangedValue(FullModel):
    """A key whose value differs from the expected one. Null is no record; long values are cut."""

    metadata_key: str
    expected_value: str | None
    stored_value: str | None


class EntityResult(EntityName):
    """The reply to the part of a request for one entity, as its own route would reply."""

    status: Annotated[int, Field(ge=200, le=599, examples=[200])]
    message: str
    code: str | None = None
    errors: list[WrongField] | None = None
    conflicts: list[ChangedValue] | None = None


class EditMetadataReply(WireModel):
    """The result for each entity, in the order of the request; `success` if all succeeded."""

    success: bool
    success_count: int
    failure_count: Annotated[int, Field(examples=[0])]
    results: list[EntityResult]
    timestamp: str


class RecordReply(FullModel):
    """A record with what metadata schemas define for it; null without a definition.

    One that is not `metadataStored` is a field of a schema without a record.
    """

    metadata_key: str
    metadata_value: str
    metadata_value_type: str
    metadata_stored: bool
    metadata_schema_name: str | None = None
    metadata_schema_field: bool | None = None
    metadata_schema_value_type: str | None = None
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
