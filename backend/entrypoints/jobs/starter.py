"""The function that brings jobs to the queues of their kinds."""

from backend.entrypoints.working import WorkerWiring
from backend.spec.functions import JOB_STARTER

handler = WorkerWiring(JOB_STARTER).starter_handler
