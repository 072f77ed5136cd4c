"""The function of the domain exports."""

from backend.domains.exports.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.exports import ExportWiring
from backend.spec.functions.apis import EXPORTS_API

_wiring = ExportWiring(EXPORTS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.exports)))
