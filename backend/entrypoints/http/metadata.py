"""The function of the domain metadata."""

from backend.domains.metadata.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import METADATA_API

_wiring = Wiring(METADATA_API)
handler = ready(_wiring.app.handler(build_router(_wiring.metadata)))
