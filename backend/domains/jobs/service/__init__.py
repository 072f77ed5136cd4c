"""Operations on jobs: by users, by the services that start them, by workers."""

from backend.domains.jobs.service.commands import JobService, is_cancellable
from backend.domains.jobs.service.consumers import JobConsumer, JobStarter
from backend.domains.jobs.service.runner import JobRunner

__all__ = [
    "JobConsumer",
    "JobRunner",
    "JobService",
    "JobStarter",
    "is_cancellable",
]
