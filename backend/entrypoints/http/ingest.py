"""The function of the domain ingest."""

from backend.domains.ingest.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.ingest import ingest
from backend.spec.functions.apis import INGEST_API

handler = serve(INGEST_API, lambda context: build_router(ingest(context)))
