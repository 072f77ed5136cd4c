"""Wires the check whether the indexes contain a write. Loaded by the first search that needs it."""

from backend.domains.assets.repository import AssetRepository
from backend.domains.metadata.repository import MetadataRepository
from backend.entrypoints.wiring import Wiring
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.search.query.freshness import Freshness


def freshness(wiring: Wiring) -> Freshness:
    """Create the check from the reads of rebuilds, and from consistent reads of metadata."""
    tables = wiring.tables
    return Freshness(
        sources=Sources(tables, wiring.objects, AssetRepository(tables).owners, lists_only=True),
        records=MetadataRepository(tables),
        geo_keys=GeoKeys(tables),
        state=SearchState(tables, wiring.clock),
    )
