"""The function for jobs that purge databases."""

from collections.abc import Mapping
from functools import cache

from backend.domains.jobs.models import Job, Progress, Step
from backend.entrypoints import ready
from backend.entrypoints.job_workers import WorkerWiring
from backend.spec.functions.workers import PURGE_WORKER
from backend.spec.jobs import PURGE_DATABASE
from backend.spec.queues import PURGES


@cache
def steps() -> Mapping[str, Step]:
    """Return the step, built for the first job because it loads half of all slices."""
    from backend.entrypoints.lifecycle import LifecycleWiring  # noqa: PLC0415

    return LifecycleWiring(PURGE_WORKER).purge_steps


def _step(job: Job) -> Progress:
    return steps()[job.kind](job)


handler = ready(WorkerWiring(PURGE_WORKER).consumer_handler(PURGES, {PURGE_DATABASE.name: _step}))
