"""The function of the domain bucket_sync."""

from backend.domains.bucket_sync.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.buckets import RegistryWiring
from backend.spec.functions.apis import BUCKET_SYNC_API

_wiring = RegistryWiring(BUCKET_SYNC_API)
handler = ready(_wiring.app.handler(build_router(_wiring.bucket_imports)))
