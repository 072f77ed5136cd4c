"""Wires searches. What few of them use is loaded by the first one that does."""
# ruff: noqa: PLC0415

from functools import cache, partial
from typing import TYPE_CHECKING

from backend.entrypoints.wiring.context import Context
from backend.search.indexing.state import SearchState
from backend.search.query.cursors import CursorPlaces, Cursors
from backend.search.query.service import SearchService

if TYPE_CHECKING:
    from backend.search.query.freshness import Freshness
    from backend.search.query.previews import PreviewQueries


def search(context: Context) -> SearchService:
    places = CursorPlaces(context.tables, context.clock)
    return SearchService(
        engine=context.search_engine,
        state=SearchState(context.tables, context.clock),
        visibility=context.rules,
        cursors=Cursors(context.page_tokens, context.clock, places),
        freshness=cache(partial(_freshness, context)),
        previews=cache(partial(previews, context)),
    )


def _freshness(context: Context) -> "Freshness":
    """Create the check from the reads of rebuilds, and from consistent reads of metadata."""
    from backend.domains.assets.repository import AssetRepository
    from backend.domains.metadata.repository import MetadataRepository
    from backend.search.indexing.geo_keys import GeoKeys
    from backend.search.indexing.sources import Sources
    from backend.search.query.freshness import Freshness

    tables = context.tables
    owners = AssetRepository(tables).owners
    return Freshness(
        sources=Sources(tables, context.objects, owners, lists_only=True),
        records=MetadataRepository(tables),
        geo_keys=GeoKeys(tables),
        state=SearchState(tables, context.clock),
    )


def previews(context: Context) -> "PreviewQueries":
    """Create what adds previews to hits; it reads tables only."""
    from backend.domains.facts.repository import FactRepository
    from backend.entrypoints.wiring.assets import assets
    from backend.entrypoints.wiring.databases import is_processed
    from backend.entrypoints.wiring.files import files
    from backend.search.query.previews import PreviewQueries

    return PreviewQueries(
        assets=assets(context),
        facts=FactRepository(context.tables),
        quarantine=files(context).quarantine,
        objects=context.objects,
        authorization=context.rules,
        is_processed=partial(is_processed, context),
        url_seconds=context.url_seconds,
        clock=context.clock,
    )
