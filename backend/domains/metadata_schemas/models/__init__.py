"""Metadata schemas, as stored and combined, and the bodies that create them."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import BeforeValidator, Field, model_validator

from backend.core.metadata_values import MetadataKey, ValueType
from backend.core.models import SentModel, WireModel
from backend.core.names import (
    AnyText,
    DatabaseOrGlobal,
    ExtensionList,
    Id,
    NewObjectName,
    ObjectName,
)

EntityType = Literal[
    "databaseMetadata", "assetMetadata", "fileMetadata", "fileAttribute", "assetLinkMetadata"
]
FILE_TYPES = ("fileMetadata", "fileAttribute")
# Fields of one schema: as many as the records of an entity.
MAX_FIELDS = 500
# `rules.MAX_BYTES` bounds their size.
MAX_CONTROLLED_KEYS = 1000
# Schemas of one scope. Each write of metadata reads all of them.
MAX_SCHEMAS = 100

_BY_LOWER_CASE: Mapping[str, str] = {name.lower(): name for name in get_args(EntityType)}


def _canonical_type(value: object) -> object:
    return _BY_LOWER_CASE.get(value.lower(), value) if isinstance(value, str) else value


def _in_lower_case(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


AnyEntityType = Annotated[EntityType, BeforeValidator(_canonical_type)]
ListKey = Annotated[AnyText, Field(min_length=1, max_length=256)]


class SchemaField(SentModel):
    """The rules for one metadata key."""

    metadata_field_key_name: MetadataKey
    metadata_field_value_type: Annotated[ValueType, BeforeValidator(_in_lower_case)]
    required: bool = False
    sequence: Annotated[int, Field(ge=0, le=MAX_FIELDS)] | None = None
    depends_on_field_key_name: Annotated[list[MetadataKey], Field(max_length=MAX_FIELDS)] | None = (
        None
    )
    controlled_list_keys: Annotated[list[ListKey], Field(max_length=MAX_CONTROLLED_KEYS)] | None = (
        None
    )
    default_metadata_field_value: AnyText | None = None


class SchemaFields(WireModel):
    fields: Annotated[list[SchemaField], Field(min_length=1, max_length=MAX_FIELDS)]


class MetadataSchema(WireModel):
    """A schema as stored."""

    metadata_schema_id: str
    database_id: str
    metadata_schema_entity_type: EntityType
    schema_name: str
    fields: SchemaFields
    file_key_type_restriction: str | None = None
    enabled: bool = True
    date_created: str
    date_modified: str
    created_by: str
    modified_by: str
    revision: int = 1


class FieldInForce(NamedTuple):
    """The combined rules of all schemas for one key; contradictory rules are dropped."""

    key: str
    value_type: ValueType
    required: bool = False
    sequence: int | None = None
    depends_on: tuple[str, ...] = ()
    default: str | None = None
    controlled: tuple[str, ...] = ()
    has_conflict: bool = False
    schemas: tuple[str, ...] = ()
    """Names of the schemas, each with its database: `Weights (museum)`."""


Fields = Mapping[str, FieldInForce]
"""The fields in force by key, in the order of their dependencies. Empty without a schema."""


class CreateSchemaBody(SentModel):
    database_id: DatabaseOrGlobal
    metadata_schema_entity_type: AnyEntityType
    schema_name: NewObjectName
    fields: SchemaFields
    file_key_type_restriction: Annotated[ExtensionList, Field(max_length=1024)] | None = None
    enabled: bool = True


class UpdateSchemaBody(WireModel):
    """The fields to change; at least one. Database and entity type are fixed."""

    metadata_schema_id: Id
    schema_name: ObjectName | None = None
    fields: SchemaFields | None = None
    file_key_type_restriction: Annotated[ExtensionList, Field(max_length=1024)] | None = None
    enabled: bool | None = None

    @model_validator(mode="after")
    def require_change(self) -> "UpdateSchemaBody":
        if all(value is None for name, value in self if name != "metadata_schema_id"):
            raise ValueError("at least one field is required")
        return self
