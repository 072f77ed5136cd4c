"""The function of the domain jobs."""

from backend.domains.jobs.routes import build_router
from backend.entrypoints.wiring import Wiring
from backend.spec.functions import JOBS_API

_wiring = Wiring(JOBS_API)
handler = _wiring.app.handler(build_router(_wiring.jobs))
