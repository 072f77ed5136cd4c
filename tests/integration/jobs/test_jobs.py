"""Jobs on real engines, and inspections that are interrupted."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from backend.core.identity import Identity
from backend.domains.executions.models import RunError
from backend.domains.executions.rules import (
    INTERRUPTED,
    MAX_REPEATS,
    reservation_key,
    target_of,
)
from backend.domains.jobs.models import Job
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.consumers import JobStarter
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.jobs import ARCHIVE_ASSET
from backend.spec.queues import LIFECYCLE
from backend.spec.tables.operations import JOBS
from tests.engines import OPTIONS, RealEngines
from tests.factories.executions import Runner
from tests.factories.jobs import job_service
from tests.integration.conftest import Deployment
from tests.integration.jobs.worker import LEASE_SECONDS
from tests.integration.tables import TableSet

ROOT = Path(__file__).parents[3]
PAGES = 4
SECONDS = 120
"""A job that takes longer never ends."""
AFTER_THE_LEASE = LEASE_SECONDS + 1
"""Time by which the clock of the next worker is ahead, instead of a wait for the lease."""


def start(deployment: Deployment, jobs: JobService) -> Job:
    """Put the row of a job, and deliver its record in the table's real stream."""
    job = jobs.new(
        ARCHIVE_ASSET,
        ARCHIVE_ASSET.job_id("museum", "Grüner Löwe", 2),
        caller=Identity("admin"),
        database_id="museum",
        asset_id="Grüner Löwe",
    )
    deployment.tables.write(jobs.put(job))
    JobStarter(deployment.queues).consume({"Records": stream_of_jobs(deployment)})
    return job


def stream_of_jobs(deployment: Deployment) -> list[Any]:
    """All records of the table's stream."""
    return deployment.table_set.stream(JOBS).read()


def steps_noted(deployment: Deployment) -> list[int]:
    """The numbers of steps in the images of the job, each once, in the order of the stream."""
    images = [record["dynamodb"].get("NewImage", {}) for record in stream_of_jobs(deployment)]
    noted = [int(image["step"]["N"]) for image in images]
    return [step for number, step in enumerate(noted) if number == 0 or noted[number - 1] != step]


def work(
    deployment: Deployment, engines: RealEngines, job: Job, *, dies: str = "never", ahead: int = 0
) -> int:
    """Run a worker as a process; return its exit code."""
    addresses = {"DYNAMODB": "dynamodb", "S3": "s3", "SQS": "queues"}
    environment = {
        **deployment.settings.environment,
        **deployment.table_set.for_others(),
        **{f"AWS_ENDPOINT_URL_{name}": engines.url(of) for name, of in addresses.items()},
        "AWS_ACCESS_KEY_ID": OPTIONS.access_key,
        "AWS_SECRET_ACCESS_KEY": OPTIONS.secret_key,
        "AWS_DEFAULT_REGION": OPTIONS.region,
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
    }
    bucket = deployment.settings.bucket(ASSET_BUCKET)
    arguments = [job.job_id, bucket, str(PAGES), dies, str(ahead)]
    command = [sys.executable, "-m", "tests.integration.jobs.worker", *arguments]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode


@pytest.fixture
def jobs(deployment: Deployment) -> JobService:
    """The service, and a queue whose messages are visible again soon after a worker has crashed."""
    url = deployment.settings.queue(LIFECYCLE)
    deployment.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
    return job_service(deployment.tables)


def pages(deployment: Deployment) -> list[tuple[str, int]]:
    """The objects below `pages/`, and how often each was written."""
    bucket = deployment.settings.bucket(ASSET_BUCKET)
    written = [
        version.key for version in deployment.objects.list_versions(bucket, "pages/").versions
    ]
    return [(key, written.count(key)) for key in sorted(set(written))]


def test_a_job_is_started_by_its_row_and_processed(
    deployment: Deployment, engines: RealEngines, jobs: JobService
) -> None:
    job = start(deployment, jobs)
    assert work(deployment, engines, job) == 0
    done = jobs.find(job.job_id)
    assert done is not None
    assert (done.state, done.step, done.items_done) == ("done", PAGES, PAGES)
    assert pages(deployment) == [(f"pages/{number}", 1) for number in range(PAGES)]
    assert steps_noted(deployment) == list(range(PAGES + 1))


@pytest.mark.parametrize(
    ("dies", "written"),
    [("step:0", [2, 1, 1, 1]), ("step:3", [1, 1, 1, 2]), ("send", [1, 1, 1, 1])],
    ids=["in its first step", "in its last step", "between advance and message"],
)
def test_a_job_whose_worker_is_killed_is_finished_by_another(
    deployment: Deployment,
    engines: RealEngines,
    jobs: JobService,
    dies: str,
    written: list[int],
) -> None:
    job = start(deployment, jobs)
    assert work(deployment, engines, job, dies=dies) == -signal.SIGKILL
    left = jobs.find(job.job_id)
    assert left is not None
    assert left.state == "running"
    assert work(deployment, engines, job, ahead=AFTER_THE_LEASE) == 0
    done = jobs.find(job.job_id)
    assert done is not None
    assert (done.state, done.step, done.items_done) == ("done", PAGES, PAGES)
    assert pages(deployment) == [(f"pages/{n}", times) for n, times in enumerate(written)]
    assert steps_noted(deployment) == list(range(PAGES + 1))


def test_a_worker_that_comes_too_early_waits_for_the_end_of_the_lease(
    deployment: Deployment, engines: RealEngines, jobs: JobService
) -> None:
    job = start(deployment, jobs)
    assert work(deployment, engines, job, dies="step:0") == -signal.SIGKILL
    held = jobs.find(job.job_id)
    assert held is not None
    assert work(deployment, engines, job) == 0
    done = jobs.find(job.job_id)
    assert done is not None
    assert done.state == "done"
    bucket = deployment.settings.bucket(ASSET_BUCKET)
    again, _ = deployment.objects.list_versions(bucket, "pages/0").versions
    # S3 truncates to seconds
    assert again.last_modified.timestamp() * 1000 >= held.lease_until - 1000


def test_an_interrupted_inspection_waits_again_and_not_for_ever(table_set: TableSet) -> None:
    runner = Runner(tables=cast("Any", table_set.tables))
    reservation = reservation_key(target_of(runner.create(trigger="upload", shipped=True)))
    error = RunError(code=INTERRUPTED, message="unknown")
    for number in range(MAX_REPEATS + 1):
        (waiting,) = runner.active.list_waiting()
        result = runner.executions.find(waiting.execution_id)
        assert result is not None
        assert result.repeats == number
        runner.wait(seconds=1)
        runner.active.admit(waiting, at=result.created_at, limit=1)
        assert runner.progress.end(waiting.execution_id, "FAILED", error=error)
        assert runner.status_of(waiting.execution_id) == "FAILED"
        assert runner.counted == 0
    assert runner.active.list_waiting() == []
    assert runner.executions.active_run(reservation) is None
