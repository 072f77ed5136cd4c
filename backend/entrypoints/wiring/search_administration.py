"""Wires the administration of search indexes and facts."""

from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.search_work import search_work
from backend.operations.fact_renewals import FactRenewals
from backend.operations.search_indexes import SearchIndexService
from backend.search.indexing.state import SearchState
from backend.search.maintenance.work import Reports


def search_index_service(context: Context) -> SearchIndexService:
    return SearchIndexService(
        engine=context.search_engine,
        state=SearchState(context.tables, context.clock),
        work=search_work(context),
        reports=Reports(context.tables),
        assets=assets(context),
        databases=databases(context),
        authorization=context.authorization,
    )


def fact_renewals(context: Context) -> FactRenewals:
    return FactRenewals(search_work(context), databases(context), context.authorization)
