"""The function of the domain downloads."""

from backend.domains.downloads.routes import build_router
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import DOWNLOADS_API

_wiring = Wiring(DOWNLOADS_API)
handler = _wiring.app.handler(build_router(_wiring.downloads))
