"""Services of metadata and metadata schemas, over those of an asset."""

from backend.core.authorization import Authorization
from backend.core.clock import Clock
from backend.core.objects import Objects
from backend.core.tables import Tables
from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.asset_links.service.metadata import LinkMetadataService
from backend.domains.assets.service.commands import AssetService
from backend.domains.files.repository import FileChangeRepository
from backend.domains.metadata.repository import MetadataRepository
from backend.domains.metadata.routes import build_router
from backend.domains.metadata.service.commands import MetadataService
from backend.domains.metadata.service.records import RecordService
from backend.domains.metadata_schemas.repository import MetadataSchemaRepository
from backend.domains.metadata_schemas.service import MetadataSchemaService
from backend.http.router import Router
from tests.factories.assets import NOON


def schema_service(
    assets: AssetService,
    tables: Tables,
    *,
    authorization: Authorization | None = None,
    clock: Clock = lambda: NOON,
) -> MetadataSchemaService:
    return MetadataSchemaService(
        schemas=MetadataSchemaRepository(tables),
        databases=assets.databases,
        authorization=authorization or assets.authorization,
        audit=assets.audit,
        clock=clock,
    )


def record_service(
    assets: AssetService, tables: Tables, *, clock: Clock = lambda: NOON
) -> RecordService:
    """Records of any entity; the service does not wait for the index."""
    return RecordService(
        metadata=MetadataRepository(tables, lambda _: None),
        schemas=schema_service(assets, tables, clock=clock),
        databases=assets.databases,
        audit=assets.audit,
        clock=clock,
    )


def metadata_service(assets: AssetService, tables: Tables, objects: Objects) -> MetadataService:
    require_unchanged = FileChangeRepository(tables).require_unchanged
    records = record_service(assets, tables)
    return MetadataService(records, assets, assets.databases, objects, require_unchanged)


def metadata_router(service: MetadataService) -> Router:
    """The routes of metadata, for links of the same assets too."""
    tables, assets = service.records.metadata.tables, service.assets
    links = AssetLinkService(AssetLinkRepository(tables), assets, assets.audit, lambda: NOON)
    return build_router(service, LinkMetadataService(links, service.records))
