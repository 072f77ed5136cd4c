"""The function of the domain access."""

from backend.domains.access.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import ACCESS_API

_wiring = Wiring(ACCESS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.api_keys)))
