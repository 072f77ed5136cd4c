"""The function of failures."""

from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.operations import failure_service
from backend.operations.routes import build_router
from backend.spec.functions.operations import ADMIN_API

handler = serve(ADMIN_API, lambda context: build_router(failure_service(context)))
