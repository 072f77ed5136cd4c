"""What can be done with links between assets."""

from backend.domains.asset_links.repository import LinkNotFoundError
from backend.domains.asset_links.service.linking import AssetLinkService
from backend.domains.asset_links.service.reading import Linked, LinkReader, Tree

__all__ = ["AssetLinkService", "LinkNotFoundError", "LinkReader", "Linked", "Tree"]
