"""The function of the domain exports."""

from backend.domains.exports.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.exports import exports
from backend.spec.functions.apis import EXPORTS_API

handler = serve(EXPORTS_API, lambda context: build_router(exports(context)))
