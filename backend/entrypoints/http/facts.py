"""The function of facts."""

from backend.domains.facts.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.facts import FactWiring
from backend.spec.functions.searches import FACTS_API

_wiring = FactWiring(FACTS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.facts, _wiring.glbs)))
