"""What follows dependencies and searches by shape."""

from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service import AssetsById
from backend.domains.facts.repository import FactRepository
from backend.domains.facts.service.queries import FactQueries
from backend.entrypoints.wiring import Wiring
from backend.search.similar import ShapeQueries
from backend.search.state import SearchState


def fact_queries(wiring: Wiring) -> FactQueries:
    state = SearchState(wiring.tables, wiring.clock)
    return FactQueries(
        assets=wiring.assets,
        by_id=AssetsById(AssetRepository(wiring.tables), wiring.assets),
        facts=FactRepository(wiring.tables),
        objects=wiring.objects,
        shapes=ShapeQueries(wiring.search_engine, state, wiring.rules),
    )
