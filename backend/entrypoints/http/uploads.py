"""The function of the domain uploads."""

from backend.domains.uploads.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.uploads import renewals, uploads
from backend.spec.functions.apis import UPLOADS_API

handler = serve(UPLOADS_API, lambda context: build_router(uploads(context), renewals(context)))
