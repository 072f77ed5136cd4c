"""The function of failures."""

from backend.entrypoints import ready
from backend.entrypoints.operations import OperationsWiring
from backend.operations.routes import build_router
from backend.spec.functions.operations import ADMIN_API

_wiring = OperationsWiring(ADMIN_API, patience=3)  # a caller waits for the reply
handler = ready(_wiring.app.handler(build_router(_wiring.failure_service)))
