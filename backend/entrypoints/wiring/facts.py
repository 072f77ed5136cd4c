"""Wires dependencies of files, the search by shape, and GLBs."""

from functools import partial

from backend.domains.facts.repository import FactRepository
from backend.domains.facts.service.glbs import GlbQueries
from backend.domains.facts.service.queries import FactQueries
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.databases import is_processed
from backend.entrypoints.wiring.files import files
from backend.search.indexing.state import SearchState
from backend.search.query.similar import ShapeQueries
from backend.spec.buckets import AUXILIARY_BUCKET


def facts(context: Context) -> FactQueries:
    state = SearchState(context.tables, context.clock)
    return FactQueries(
        assets=assets(context),
        facts=FactRepository(context.tables),
        objects=context.objects,
        shapes=ShapeQueries(context.search_engine, state, context.rules),
    )


def glbs(context: Context) -> GlbQueries:
    return GlbQueries(
        assets=assets(context),
        files=files(context),
        facts=FactRepository(context.tables),
        objects=context.objects,
        auxiliary=partial(context.settings.bucket, AUXILIARY_BUCKET),
        is_processed=partial(is_processed, context),
        url_seconds=context.url_seconds,
        clock=context.clock,
    )
