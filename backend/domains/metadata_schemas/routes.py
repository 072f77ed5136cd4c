"""The routes of metadata schemas."""

from backend.core.clock import iso
from backend.domains.metadata_schemas.models import (
    CreateSchemaBody,
    MetadataSchema,
    UpdateSchemaBody,
)
from backend.domains.metadata_schemas.models.replies import (
    DeleteSchemaBody,
    SchemaOperationReply,
    SchemaPath,
    SchemaReply,
    SchemasQuery,
    SchemasReply,
)
from backend.domains.metadata_schemas.service import MetadataSchemaService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: MetadataSchemaService) -> Router:
    """Bind the routes of metadata schemas to the service."""
    router = Router()
    _bind_reads(router, service)
    _bind_writes(router, service)
    return router


def _bind_reads(router: Router, service: MetadataSchemaService) -> None:
    @router.bind(routes.LIST_METADATA_SCHEMAS)
    def list_metadata_schemas(call: Call, query: SchemasQuery) -> SchemasReply:
        page = service.list_schemas(
            call.caller,
            call.page(query),
            database_id=query.database_id,
            entity_type=query.metadata_entity_type,
        )
        return SchemasReply(
            items=[_reply(schema) for schema in page.items],
            next_token=call.next_token(page.after),
            message=f"{len(page.items)} metadata schemas",
        )

    @router.bind(routes.GET_METADATA_SCHEMA)
    def get_metadata_schema(call: Call, path: SchemaPath) -> SchemaReply:
        schema = service.get_schema(call.caller, path.database_id, path.metadata_schema_id)
        return _reply(schema)


def _bind_writes(router: Router, service: MetadataSchemaService) -> None:
    @router.bind(routes.CREATE_METADATA_SCHEMA)
    def create_metadata_schema(call: Call, body: CreateSchemaBody) -> SchemaOperationReply:
        schema = service.create_schema(call.caller, body)
        return SchemaOperationReply(
            message=f"Metadata schema {schema.schema_name} was created",
            metadata_schema_id=schema.metadata_schema_id,
            operation="create",
            timestamp=schema.date_modified,
        )

    @router.bind(routes.UPDATE_METADATA_SCHEMA)
    def update_metadata_schema(call: Call, body: UpdateSchemaBody) -> SchemaOperationReply:
        schema = service.update_schema(call.caller, body)
        return SchemaOperationReply(
            message=f"Metadata schema {schema.schema_name} was changed",
            metadata_schema_id=schema.metadata_schema_id,
            operation="update",
            timestamp=schema.date_modified,
        )

    @router.bind(routes.DELETE_METADATA_SCHEMA)
    def delete_metadata_schema(
        call: Call,
        path: SchemaPath,
        body: DeleteSchemaBody,  # noqa: ARG001 - it confirms
    ) -> SchemaOperationReply:
        service.delete_schema(call.caller, path.database_id, path.metadata_schema_id)
        return SchemaOperationReply(
            message=f"Metadata schema {path.metadata_schema_id} was deleted",
            metadata_schema_id=path.metadata_schema_id,
            operation="delete",
            timestamp=iso(service.clock()),
        )


def _reply(schema: MetadataSchema) -> SchemaReply:
    return SchemaReply.model_validate(schema.model_dump())
