"""The function of the domain jobs."""

from backend.domains.jobs.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import JOBS_API

_wiring = Wiring(JOBS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.jobs)))
