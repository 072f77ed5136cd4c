"""The function for jobs that archive, restore and delete assets, create versions and clean up."""

from collections.abc import Mapping
from functools import cache

from backend.domains.jobs.models import Job, Progress, Step
from backend.entrypoints import ready
from backend.entrypoints.job_workers import WorkerWiring
from backend.spec.functions.workers import LIFECYCLE_WORKER
from backend.spec.jobs import CHANGE_FILES, JOB_KINDS, WITHDRAW_ROLE, WITHDRAW_TAG
from backend.spec.queues import LIFECYCLE


@cache
def steps() -> Mapping[str, Step]:
    """Return the steps by kind, built for the first job because they load half of all slices."""
    from backend.entrypoints.lifecycle import LifecycleWiring  # noqa: PLC0415

    wiring = LifecycleWiring(LIFECYCLE_WORKER)
    return {
        WITHDRAW_TAG.name: wiring.tag_withdrawal,
        WITHDRAW_ROLE.name: wiring.role_withdrawal,
        CHANGE_FILES.name: wiring.file_change_wiring.steps.step,
        **wiring.lifecycle_steps,
        **wiring.version_steps,
    }


def _step(job: Job) -> Progress:
    return steps()[job.kind](job)


_kinds = [name for name, kind in JOB_KINDS.items() if kind.queue == LIFECYCLE]
handler = ready(
    WorkerWiring(LIFECYCLE_WORKER).consumer_handler(LIFECYCLE, dict.fromkeys(_kinds, _step))
)
