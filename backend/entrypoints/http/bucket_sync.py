"""The function of the domain bucket_sync."""

from backend.domains.bucket_sync.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.bucket_sync import bucket_imports
from backend.spec.functions.apis import BUCKET_SYNC_API

handler = serve(BUCKET_SYNC_API, lambda context: build_router(bucket_imports(context)))
