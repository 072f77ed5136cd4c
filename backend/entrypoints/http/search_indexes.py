"""The function for the administration of search indexes and facts."""

from backend.entrypoints import ready
from backend.entrypoints.search_administration import KeepingWiring
from backend.operations.search_routes import build_router
from backend.spec.functions.operations import SEARCH_INDEXES_API

_wiring = KeepingWiring(SEARCH_INDEXES_API)
_router = build_router(_wiring.search_index_service, _wiring.fact_renewals)
handler = ready(_wiring.app.handler(_router))
