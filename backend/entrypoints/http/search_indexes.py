"""The function for the administration of search indexes and facts."""

from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.search_administration import fact_renewals, search_index_service
from backend.operations.search_routes import build_router
from backend.spec.functions.operations import SEARCH_INDEXES_API

handler = serve(
    SEARCH_INDEXES_API,
    lambda context: build_router(search_index_service(context), fact_renewals(context)),
)
