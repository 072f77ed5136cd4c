"""The function of the domain buckets."""

from backend.domains.buckets.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.buckets import bucket_registration, buckets
from backend.spec.functions.apis import BUCKETS_API

handler = serve(
    BUCKETS_API, lambda context: build_router(buckets(context), bucket_registration(context))
)
