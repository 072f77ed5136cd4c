"""The function that checks, repairs and rebuilds the search indexes."""

from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.search_jobs import search_jobs
from backend.spec.functions.workers import SEARCH_WORKER

handler = handle(SEARCH_WORKER, search_jobs)
