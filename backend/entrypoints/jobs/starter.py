"""The function that sends jobs to the queues of their kinds."""

from backend.entrypoints import ready
from backend.entrypoints.job_workers import WorkerWiring
from backend.spec.functions.workers import JOB_STARTER

handler = ready(WorkerWiring(JOB_STARTER).starter_handler)
