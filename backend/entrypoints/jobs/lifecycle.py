"""The function for jobs that archive, restore and delete assets, create versions and clean up."""

from collections.abc import Mapping

from backend.domains.jobs.models import Step
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import handle
from backend.entrypoints.wiring.job_workers import late_job_consumer
from backend.spec.functions.workers import LIFECYCLE_WORKER
from backend.spec.queues import LIFECYCLE


def steps(context: Context) -> Mapping[str, Step]:
    """Return the steps by kind, which load half of all slices."""
    from backend.entrypoints.wiring.lifecycle_steps import lifecycle_steps  # noqa: PLC0415

    return lifecycle_steps(context)


handler = handle(LIFECYCLE_WORKER, lambda context: late_job_consumer(context, LIFECYCLE, steps))
