"""A worker of jobs as a process of its own, which may be killed: one object a page, one by one.

    python -m tests.integration.jobs.worker JOB BUCKET PAGES DIES SECONDS_AHEAD

JOB is the id of the job after whose end it stops. DIES names where the process kills itself:
`step:2` (the effect of page 2 is there, the advance is not) or `send` (the job has advanced, the
next message is not sent); `never` elsewhere.
"""

import os
import signal
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from backend.aws.clients import dynamodb, s3, sqs
from backend.aws.objects import S3Objects
from backend.aws.queues import SqsQueues
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.clock import utc_now
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.consumers import JobConsumer
from backend.domains.jobs.service.runner import JobRunner
from backend.spec.jobs import ARCHIVE_ASSET
from backend.spec.queues import LIFECYCLE, Queue
from tests.factories.jobs import job_service

LEASE_SECONDS = 5
"""Longer than a worker takes to start, so that one can come before a lease ends."""
WAITS_AFTER = 1
"""The page after which the job waits a second, so that its worker sends a message."""


class DyingQueues(SqsQueues):
    """Kills the process when a message is to be sent."""

    def send(self, queue: Queue, bodies: Sequence[object], *, delay_seconds: int = 0) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def put_page(job: Job, *, objects: S3Objects, bucket: str, pages: int, dies: str) -> Progress:
    """Write the page's object, and its name once more for each repetition."""
    page = int(job.cursor.get("page", 0))
    objects.put(bucket, f"pages/{page}", b"x", content_type="text/plain", metadata={})
    if dies == f"step:{page}":
        os.kill(os.getpid(), signal.SIGKILL)
    following = {"page": page + 1}
    wait = 1 if page == WAITS_AFTER else 0
    return Progress(following, items=1, finished=page + 1 == pages, wait_seconds=wait)


def main(job_id: str, bucket: str, pages: str, dies: str, seconds_ahead: str) -> None:
    """Work until the job is finished."""
    settings = Settings(os.environ)
    tables = DynamoTables(dynamodb(), settings)
    queues = (DyingQueues if dies == "send" else SqsQueues)(sqs(), settings)
    step = partial(put_page, objects=S3Objects(s3()), bucket=bucket, pages=int(pages), dies=dies)

    def clock() -> datetime:
        return utc_now() + timedelta(seconds=int(seconds_ahead))

    jobs = job_service(tables, clock)
    consumer = JobConsumer(
        queue=LIFECYCLE,
        queues=queues,
        jobs=jobs,
        runner=JobRunner(JobRepository(tables), clock, lease_seconds=LEASE_SECONDS),
        steps={ARCHIVE_ASSET.name: step},
        store_failure=lambda name, body, reason: sys.exit(f"poison: {name}: {reason}"),
        count_metric=lambda metric: sys.exit(metric.name),
        clock=clock,
    )
    while not is_finished(jobs, job_id):
        work(consumer, settings.queue(LIFECYCLE))


def is_finished(jobs: JobService, job_id: str) -> bool:
    job = jobs.find(job_id)
    return job is not None and job.is_finished


def work(consumer: JobConsumer, url: str) -> None:
    """Take the next message as Lambda does."""
    reply = sqs().receive_message(QueueUrl=url, WaitTimeSeconds=5, MaxNumberOfMessages=1)
    for message in reply.get("Messages", []):
        receipt = message.get("ReceiptHandle", "")
        record = {
            "messageId": message.get("MessageId"),
            "receiptHandle": receipt,
            "body": message.get("Body"),
        }
        if not consumer.consume({"Records": [record]})["batchItemFailures"]:
            sqs().delete_message(QueueUrl=url, ReceiptHandle=receipt)


if __name__ == "__main__":
    main(*sys.argv[1:])
