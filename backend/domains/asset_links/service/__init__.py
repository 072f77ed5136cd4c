"""Operations on links between assets."""

from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.asset_links.service.metadata import LinkMetadataService, entity_of
from backend.domains.asset_links.service.queries import Family, Linked, LinkQueries, Tree

__all__ = [
    "AssetLinkService",
    "Family",
    "LinkMetadataService",
    "LinkQueries",
    "Linked",
    "Tree",
    "entity_of",
]
