"""The function of the domain jobs."""

from backend.domains.jobs.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.jobs import jobs
from backend.spec.functions.apis import JOBS_API

handler = serve(JOBS_API, lambda context: build_router(jobs(context)))
