"""Operations on jobs: by users, by the services that start them, by workers."""

from backend.domains.jobs.repository import (
    JobChangedError,
    JobExistsError,
    JobNotFoundError,
    JobSettledError,
)
from backend.domains.jobs.service.commands import JobService, JobStateError, is_cancellable
from backend.domains.jobs.service.consumers import JobConsumer, JobStarter
from backend.domains.jobs.service.runner import JobRunner

__all__ = [
    "JobChangedError",
    "JobConsumer",
    "JobExistsError",
    "JobNotFoundError",
    "JobRunner",
    "JobService",
    "JobSettledError",
    "JobStarter",
    "JobStateError",
    "is_cancellable",
]
