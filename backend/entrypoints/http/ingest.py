"""The function of the domain ingest."""

from backend.domains.ingest.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.ingest import IngestWiring
from backend.spec.functions.apis import INGEST_API

_wiring = IngestWiring(INGEST_API)
handler = ready(_wiring.app.handler(build_router(_wiring.ingest)))
