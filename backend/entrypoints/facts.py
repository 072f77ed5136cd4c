"""Wires dependencies of files, the search by shape, and GLBs."""

from functools import cached_property

from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service import AssetsById
from backend.domains.facts.repository import FactRepository
from backend.domains.facts.service.glbs import GlbQueries
from backend.domains.facts.service.queries import FactQueries
from backend.entrypoints.wiring import Wiring
from backend.search.indexing.state import SearchState
from backend.search.query.similar import ShapeQueries
from backend.spec.buckets import AUXILIARY_BUCKET


class FactWiring(Wiring):
    @cached_property
    def facts(self) -> FactQueries:
        state = SearchState(self.tables, self.clock)
        return FactQueries(
            assets=self.assets,
            by_id=AssetsById(AssetRepository(self.tables), self.assets),
            facts=FactRepository(self.tables),
            objects=self.objects,
            shapes=ShapeQueries(self.search_engine, state, self.rules),
        )

    @cached_property
    def glbs(self) -> GlbQueries:
        return GlbQueries(
            assets=self.assets,
            files=self.files,
            facts=FactRepository(self.tables),
            objects=self.objects,
            auxiliary=lambda: self.settings.bucket(AUXILIARY_BUCKET),
            is_processed=self.is_processed,
            url_seconds=self.url_seconds,
            clock=self.clock,
        )
