"""Wires the consumers of queues of jobs."""

from collections.abc import Callable, Mapping

from backend.domains.jobs.models import Job, Progress, Step
from backend.domains.jobs.service.consumers import JobConsumer
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.events import Run
from backend.entrypoints.wiring.failures import count_metric, failures
from backend.entrypoints.wiring.jobs import jobs, runner
from backend.spec.jobs import JOB_KINDS
from backend.spec.queues import Queue


def job_consumer(context: Context, queue: Queue, steps: Mapping[str, Step]) -> Run:
    """Return the consumer of a queue of jobs, with these steps for their kinds."""
    return JobConsumer(
        queue=queue,
        queues=context.queues,
        jobs=jobs(context),
        runner=runner(context),
        steps=steps,
        store_failure=failures(context).store,
        count_metric=count_metric(context),
        clock=context.clock,
    ).consume


def late_job_consumer(
    context: Context, queue: Queue, make: Callable[[Context], Mapping[str, Step]]
) -> Run:
    """Return the consumer of a queue of jobs, whose steps are loaded with the first job."""

    def step(job: Job) -> Progress:
        return context.once("steps", make)[job.kind](job)

    kinds = [name for name, kind in JOB_KINDS.items() if kind.queue == queue]
    return job_consumer(context, queue, dict.fromkeys(kinds, step))
