"""Wires links between assets."""

from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.asset_links.service.metadata import LinkMetadataService
from backend.domains.asset_links.service.queries import LinkQueries
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.metadata import records


@once
def asset_links(context: Context) -> AssetLinkService:
    repository = AssetLinkRepository(context.tables)
    return AssetLinkService(repository, assets(context), context.audit, context.clock)


def link_reader(context: Context) -> LinkQueries:
    repository = AssetLinkRepository(context.tables)
    return LinkQueries(repository, assets(context), context.authorization)


def link_metadata(context: Context) -> LinkMetadataService:
    return LinkMetadataService(asset_links(context), records(context))
