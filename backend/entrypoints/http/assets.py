"""The function of the domain assets."""

from backend.domains.assets.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import ASSETS_API

_wiring = Wiring(ASSETS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.assets)))
