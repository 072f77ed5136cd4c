"""The function that checks, repairs and rebuilds the search indexes."""

from backend.entrypoints import ready
from backend.entrypoints.search_jobs import RenewalWiring
from backend.spec.functions.workers import SEARCH_WORKER

handler = ready(RenewalWiring(SEARCH_WORKER).search_work_handler)
