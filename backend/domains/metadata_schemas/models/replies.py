"""Queries and replies of the routes of metadata schemas; other slices do not load it."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import Confirmation, PageQuery, WireModel
from backend.core.names import Id
from backend.domains.metadata_schemas.models import (
    AnyEntityType,
    DatabaseOrGlobal,
    EntityType,
    SchemaFields,
)


class SchemaPath(WireModel):
    database_id: DatabaseOrGlobal
    metadata_schema_id: Id


class SchemasQuery(PageQuery):
    database_id: DatabaseOrGlobal | None = None
    metadata_entity_type: AnyEntityType | None = None


class DeleteSchemaBody(WireModel):
    confirm_delete: Confirmation


class SchemaOperationReply(WireModel):
    success: bool = True
    message: str
    metadata_schema_id: str
    operation: Literal["create", "update", "delete"]
    timestamp: str


class SchemaReply(WireModel):
    metadata_schema_id: str
    database_id: str
    metadata_schema_entity_type: EntityType
    schema_name: str
    fields: SchemaFields
    file_key_type_restriction: str | None = None
    enabled: bool
    date_created: str
    date_modified: str
    created_by: str
    modified_by: str


class SchemasReply(WireModel):
    items: Annotated[list[SchemaReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
    message: str
