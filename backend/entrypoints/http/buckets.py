"""The function of the domain buckets."""

from backend.domains.buckets.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.buckets import RegistryWiring
from backend.spec.functions.apis import BUCKETS_API

_wiring = RegistryWiring(BUCKETS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.buckets, _wiring.bucket_registration)))
