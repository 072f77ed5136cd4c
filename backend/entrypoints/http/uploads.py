"""The function of the domain uploads."""

from backend.domains.uploads.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import UPLOADS_API

_wiring = Wiring(UPLOADS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.uploads, _wiring.renewals)))
