"""The function for jobs that purge databases."""

from collections.abc import Mapping

from backend.domains.jobs.models import Step
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.job_workers import late_job_consumer
from backend.spec.functions.workers import PURGE_WORKER
from backend.spec.queues import PURGES


def steps(context: Context) -> Mapping[str, Step]:
    """Return the step by kind, which loads half of all slices."""
    from backend.entrypoints.wiring.lifecycle_steps import purge_steps  # noqa: PLC0415

    return purge_steps(context)


handler = handle(PURGE_WORKER, lambda context: late_job_consumer(context, PURGES, steps))
