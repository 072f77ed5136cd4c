"""The function of facts."""

from backend.domains.facts.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.comparing import fact_queries
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import FACTS_API

_wiring = Wiring(FACTS_API)
handler = ready(_wiring.app.handler(build_router(fact_queries(_wiring))))
