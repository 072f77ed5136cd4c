"""Delivers jobs to their workers, by messages that mean `continue this job`.

A job is started by its row alone, so the code that creates it needs no queue. The table's stream
sends the first message; each message that ends before its job sends the next one. So an unfinished
job always has a record in the stream or a message in its queue.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from backend.core.clock import Clock, iso
from backend.core.deliveries import (
    CountMetric,
    Event,
    Message,
    Reply,
    StoreFailure,
    failed,
    received,
    return_messages,
)
from backend.core.errors import UnavailableError, VitrineError
from backend.core.queues import Queues
from backend.domains.jobs.errors import JobNotFoundError, UnknownJobKindError
from backend.domains.jobs.models import Job, Progress, Step
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.runner import JobRunner
from backend.spec.jobs import JOB_KINDS
from backend.spec.metrics import BATCHES_GIVEN_BACK, JOB_FAILED
from backend.spec.queues import Queue

# Time in which the steps of one message may start. It is below a lease, and with the longest step
# they end within the function's 120 seconds (decision 11).
WORK_TIME = timedelta(seconds=20)

_CHECK_SECONDS = 3  # seconds, for a job that a request has started and soon leaves to the worker
_LONGEST_CHECK = 300  # seconds, for a job that another message continues
_LONGEST_DELAY = 900  # SQS's limit for a message; the lease holds a job that waits longer
_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class JobStarter:
    """Consumes the stream of jobs: sends the first message of each job that is queued.

    That of a job with a lease is delayed: its request usually completes it before.
    """

    queues: Queues

    def consume(self, event: Event) -> Reply:
        """Process the batch.

        Raises:
            UnavailableError: the queue is unavailable; the mapping delivers the batch again.
        """
        by_queue: dict[tuple[Queue, int], list[dict[str, str]]] = {}
        for record in event["Records"]:
            image = record["dynamodb"].get("NewImage", {})
            kind = JOB_KINDS.get(_text(image, "kind"))
            if kind is not None and _text(image, "state") == "queued":
                delay = 0 if _number(image, "leaseUntil") == 0 else _CHECK_SECONDS
                to = by_queue.setdefault((kind.queue, delay), [])
                to.append(_message(_text(image, "jobId")))
        for (queue, delay), bodies in by_queue.items():
            self.queues.send(queue, bodies, delay_seconds=delay)
        return failed(())


@dataclass(eq=False, repr=False)
class JobConsumer:
    """Consumes one queue of jobs; `steps` has the step of each kind in it."""

    queue: Queue
    queues: Queues
    jobs: JobService
    runner: JobRunner
    steps: Mapping[str, Step]
    store_failure: StoreFailure
    count_metric: CountMetric
    clock: Clock

    def consume(self, event: Event) -> Reply:
        """Process the batch.

        After an outage, or while a lease is held, return messages to the queue.
        """
        replies = [self._process(message) for message in event["Records"]]
        return {
            "batchItemFailures": [failure for r in replies for failure in r["batchItemFailures"]]
        }

    def _process(self, message: Message) -> Reply:
        job_id = _job_id(message)
        try:
            if job_id is None:
                reason = "the message names no job"
                self.store_failure(str(message["messageId"]), dict(message), reason)
                return failed(())
            return self._run_job(message, job_id)
        except UnavailableError as error:
            _log.warning("outage: job %s returns to the queue: %s", job_id, error.message)
            self.count_metric(BATCHES_GIVEN_BACK)
            return return_messages(self.queues, self.queue, [message])

    def _run_job(self, message: Message, job_id: str) -> Reply:
        begun = self.clock()
        met: list[VitrineError] = []

        def step(job: Job) -> Progress:
            try:
                return self._step(job)
            except VitrineError as error:
                met.append(error)
                raise

        try:
            job = self.runner.run(job_id, step, until=begun + WORK_TIME)
        except JobNotFoundError as error:  # its row has expired
            _log.warning("%s", error.message)
            return failed(())
        if job is None:
            held = self.jobs.find(job_id)
            left = 1 if held is None else max(1, self._seconds_left(held))
            # the worker may release its lease long before it expires
            if left <= self.runner.lease_seconds:
                left = min(left, _CHECK_SECONDS)
            # A message that is received repeatedly would become a dead letter before a long job is
            # done.
            left = max(left, min(received(message), _LONGEST_CHECK))
            return return_messages(self.queues, self.queue, [message], seconds=left)
        if job.state == "failed" and job.updated_at >= iso(begun):
            self._report_failure(job, met)
        elif not job.is_finished:
            delay = min(_LONGEST_DELAY, self._seconds_left(job))
            self.queues.send(self.queue, [_message(job_id)], delay_seconds=delay)
        return failed(())

    def _report_failure(self, job: Job, met: Sequence[VitrineError]) -> None:
        """Log that a job has failed, and raise an alarm unless nothing has to be corrected."""
        if met and not met[-1].needs_operator:
            _log.warning("job %s failed, which needs no operator: %s", job.job_id, job.problems[-1])
            return
        _log.error("job %s failed: %s", job.job_id, job.problems[-1])
        self.count_metric(JOB_FAILED)

    def _step(self, job: Job) -> Progress:
        step = self.steps.get(job.kind)
        if step is None:
            raise UnknownJobKindError(job.kind)
        return step(job)

    def _seconds_left(self, job: Job) -> int:
        """Return how long a lease, or a wait, still lasts."""
        now = int(self.clock().timestamp() * 1000)
        return max(0, -((now - job.lease_until) // 1000))


def _message(job_id: str) -> dict[str, str]:
    return {"jobId": job_id}


def _job_id(message: Message) -> str | None:
    try:
        body: object = json.loads(message["body"])
    except (ValueError, RecursionError):
        return None
    match body:
        case {"jobId": str(job_id)} if job_id:
            return job_id
        case _:
            return None


def _text(image: Mapping[str, Any], name: str) -> str:
    return str(image.get(name, {}).get("S", ""))


def _number(image: Mapping[str, Any], name: str) -> int:
    return int(image.get(name, {}).get("N", "0"))
