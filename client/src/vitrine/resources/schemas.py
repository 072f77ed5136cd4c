"""Metadata schemas: the expected metadata keys of entities."""

from collections.abc import Iterator

from vitrine import api_models as api
from vitrine.resources.resource import Resource
from vitrine.schema_models import MetadataSchema, SchemaEntity, SchemaFields, SchemaOperation
from vitrine.transport import path_of

"""The database id of schemas for every database."""


class MetadataSchemas(Resource):
    def list(
        self,
        database_id: str | None = None,
        entity_type: SchemaEntity | None = None,
        *,
        page_size: int | None = None,
    ) -> Iterator[MetadataSchema]:
        """List all schemas, or those of a database (or GLOBAL), of an entity type, or of both."""
        return self._transport.pages(
            MetadataSchema,
            path_of("metadataschema"),
            query={"databaseId": database_id, "metadataEntityType": entity_type},
            page_size=page_size,
        )

    def get(self, database_id: str, metadata_schema_id: str) -> MetadataSchema:
        """Return one schema. Raises NotFoundError if it is absent or hidden."""
        path = path_of("database", database_id, "metadataSchema", metadata_schema_id)
        return self._transport.read(MetadataSchema, path)

    def create(
        self,
        database_id: str,
        entity_type: SchemaEntity,
        *,
        name: str,
        fields: SchemaFields,
        file_extensions: str | None = None,
        enabled: bool = True,
    ) -> SchemaOperation:
        """Create a schema, which applies at once.

        Raises InvalidInputError if it contradicts itself.

        `file_extensions` (".jpg,.png") restricts a schema for files to these extensions.
        """
        body = api.CreateSchemaBody(
            database_id=database_id,
            metadata_schema_entity_type=entity_type,
            schema_name=name,
            fields=fields.body(),
            file_key_type_restriction=file_extensions,
            enabled=enabled,
        )
        path = path_of("metadataschema")
        return self._transport.write(SchemaOperation, "POST", path, body=body)

    def update(
        self,
        metadata_schema_id: str,
        *,
        name: str | None = None,
        fields: SchemaFields | None = None,
        file_extensions: str | None = None,
        enabled: bool | None = None,
    ) -> SchemaOperation:
        """Change the passed fields."""
        body = api.UpdateSchemaBody(
            metadata_schema_id=metadata_schema_id,
            schema_name=name,
            fields=None if fields is None else fields.body(),
            file_key_type_restriction=file_extensions,
            enabled=enabled,
        )
        path = path_of("metadataschema")
        return self._transport.write(SchemaOperation, "PUT", path, body=body)

    def delete(self, database_id: str, metadata_schema_id: str) -> SchemaOperation:
        """Delete a schema; existing records are kept."""
        path = path_of("database", database_id, "metadataSchema", metadata_schema_id)
        body = api.DeleteSchemaBody(confirm_delete=True)
        return self._transport.write(SchemaOperation, "DELETE", path, body=body)
