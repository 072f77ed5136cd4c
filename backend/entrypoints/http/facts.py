"""The function of facts."""

from backend.domains.facts.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.facts import facts, glbs
from backend.spec.functions.searches import FACTS_API

handler = serve(FACTS_API, lambda context: build_router(facts(context), glbs(context)))
