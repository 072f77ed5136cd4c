"""The function for the administration of search indexes."""

from backend.entrypoints import ready
from backend.entrypoints.search_administration import KeepingWiring
from backend.operations.search_routes import build_router
from backend.spec.functions import SEARCH_INDEXES_API

_wiring = KeepingWiring(SEARCH_INDEXES_API)
handler = ready(_wiring.app.handler(build_router(_wiring.search_index_service)))
