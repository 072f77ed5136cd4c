"""Wires links between assets."""

from dataclasses import dataclass
from functools import cached_property

from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.asset_links.service import AssetLinkService, LinkMetadataService, LinkQueries
from backend.entrypoints.wiring import Wiring


@dataclass(eq=False, repr=False)
class LinkWiring(Wiring):
    """Creates the services of asset links."""

    @cached_property
    def asset_links(self) -> AssetLinkService:
        return AssetLinkService(AssetLinkRepository(self.tables), self.assets, self.clock)

    @cached_property
    def link_reader(self) -> LinkQueries:
        return LinkQueries(AssetLinkRepository(self.tables), self.assets, self.authorization)

    @cached_property
    def link_metadata(self) -> LinkMetadataService:
        return LinkMetadataService(self.asset_links, self.records)
