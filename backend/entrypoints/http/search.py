"""The function of search."""

from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.search.query.routes import build_router
from backend.spec.functions.searches import SEARCH_API

_wiring = Wiring(SEARCH_API)
handler = ready(_wiring.app.handler(build_router(_wiring.search)))
