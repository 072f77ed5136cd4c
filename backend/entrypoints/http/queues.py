"""The function of queues."""

from backend.entrypoints import ready
from backend.entrypoints.search_administration import KeepingWiring
from backend.operations.queue_routes import build_router
from backend.spec.functions.operations import QUEUES_API

_wiring = KeepingWiring(QUEUES_API)
handler = ready(_wiring.app.handler(build_router(_wiring.queue_service)))
