"""The function that sends jobs to the queues of their kinds."""

from backend.domains.jobs.service.consumers import JobStarter
from backend.entrypoints.wiring.events import handle
from backend.spec.functions.workers import JOB_STARTER

handler = handle(JOB_STARTER, lambda context: JobStarter(context.queues).consume)
