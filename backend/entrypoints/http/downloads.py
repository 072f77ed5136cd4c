"""The function of the domain downloads."""

from backend.domains.downloads.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.downloads import downloads, streams
from backend.entrypoints.wiring.saved_views import view_queries
from backend.spec.functions.apis import DOWNLOADS_API

handler = serve(
    DOWNLOADS_API,
    lambda context: build_router(downloads(context), streams(context), view_queries(context)),
)
