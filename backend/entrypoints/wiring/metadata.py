"""Wires metadata, and the records of any entity for the slices that own one."""

from typing import TYPE_CHECKING

from backend.domains.metadata.repository import MetadataRepository
from backend.domains.metadata.service.records import RecordService
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.metadata_schemas import metadata_schemas

if TYPE_CHECKING:
    from backend.domains.metadata.service.commands import MetadataService


@once
def metadata(context: Context) -> "MetadataService":
    # Most slices with records do not have the requests of metadata routes.
    from backend.domains.files.repository import FileChangeRepository  # noqa: PLC0415
    from backend.domains.metadata.service.commands import MetadataService  # noqa: PLC0415

    return MetadataService(
        records=records(context),
        assets=assets(context),
        databases=databases(context),
        objects=context.objects,
        require_unchanged=FileChangeRepository(context.tables).require_unchanged,
    )


@once
def records(context: Context) -> RecordService:
    return RecordService(
        metadata=MetadataRepository(context.tables),
        schemas=metadata_schemas(context),
        databases=databases(context),
        audit=context.audit,
        clock=context.clock,
    )
