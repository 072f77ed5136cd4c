"""The function of queues."""

from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.queues import queue_service
from backend.operations.queue_routes import build_router
from backend.spec.functions.operations import QUEUES_API

handler = serve(QUEUES_API, lambda context: build_router(queue_service(context)))
