"""Wires searches. What few of them use is loaded by the first one that does."""
# ruff: noqa: PLC0415

from functools import cache
from typing import TYPE_CHECKING

from backend.entrypoints.wiring import Wiring
from backend.search.indexing.state import SearchState
from backend.search.query.cursor_places import CursorPlaces
from backend.search.query.cursors import Cursors
from backend.search.query.service import SearchService

if TYPE_CHECKING:
    from backend.search.query.freshness import Freshness
    from backend.search.query.previews import PreviewQueries


def search_service(wiring: Wiring) -> SearchService:
    """Create the service of searches."""

    @cache
    def fresh() -> "Freshness":
        from backend.entrypoints.freshness import freshness

        return freshness(wiring)

    @cache
    def previews() -> "PreviewQueries":
        return preview_queries(wiring)

    places = CursorPlaces(wiring.tables, wiring.clock)
    return SearchService(
        engine=wiring.search_engine,
        state=SearchState(wiring.tables, wiring.clock),
        visibility=wiring.rules,
        cursors=Cursors(wiring.page_tokens, wiring.clock, places),
        freshness=fresh,
        previews=previews,
    )


def preview_queries(wiring: Wiring) -> "PreviewQueries":
    """Create what adds previews to hits; it reads tables only."""
    from backend.domains.assets.repository import AssetRepository
    from backend.domains.assets.service import AssetsById
    from backend.domains.facts.repository import FactRepository
    from backend.search.query.previews import PreviewQueries

    return PreviewQueries(
        by_id=AssetsById(AssetRepository(wiring.tables), wiring.assets),
        facts=FactRepository(wiring.tables),
        quarantine=wiring.files.quarantine,
        objects=wiring.objects,
        authorization=wiring.rules,
        is_processed=wiring.is_processed,
        url_seconds=wiring.url_seconds,
        clock=wiring.clock,
    )
