"""The function of the domain files."""

from backend.domains.files.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import FILES_API

_wiring = Wiring(FILES_API)
handler = ready(_wiring.app.handler(build_router(_wiring.files)))
