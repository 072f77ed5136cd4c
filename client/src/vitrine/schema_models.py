"""Metadata schemas in requests and replies of the API."""

from enum import StrEnum
from typing import Self

from pydantic import JsonValue

from vitrine.api_models import SchemaOperation as SchemaOperation
from vitrine.models import MetadataType, Wire


class SchemaEntity(StrEnum):
    """The entity type of a metadata schema."""

    DATABASE = "databaseMetadata"
    ASSET = "assetMetadata"
    FILE = "fileMetadata"
    FILE_ATTRIBUTE = "fileAttribute"
    ASSET_LINK = "assetLinkMetadata"


class SchemaField(Wire):
    """The rules of a schema for one key."""

    metadata_field_key_name: str
    metadata_field_value_type: MetadataType = MetadataType.STRING
    required: bool = False
    sequence: int | None = None
    depends_on_field_key_name: tuple[str, ...] | None = None
    controlled_list_keys: tuple[str, ...] | None = None
    default_metadata_field_value: str | None = None


class SchemaFields(Wire):
    fields: tuple[SchemaField, ...]

    @classmethod
    def of(cls, *fields: SchemaField) -> Self:
        return cls(fields=fields)

    def body(self) -> JsonValue:
        """Return the body of a request."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class MetadataSchema(Wire):
    metadata_schema_id: str
    database_id: str
    metadata_schema_entity_type: str
    schema_name: str
    fields: SchemaFields
    file_key_type_restriction: str | None = None
    enabled: bool = True
    date_created: str | None = None
    date_modified: str | None = None
    created_by: str | None = None
    modified_by: str | None = None
