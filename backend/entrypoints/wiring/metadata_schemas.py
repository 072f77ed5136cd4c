"""Wires metadata schemas."""

from backend.domains.metadata_schemas.repository import MetadataSchemaRepository
from backend.domains.metadata_schemas.service import MetadataSchemaService
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases


@once
def metadata_schemas(context: Context) -> MetadataSchemaService:
    return MetadataSchemaService(
        schemas=MetadataSchemaRepository(context.tables),
        databases=databases(context),
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
    )
