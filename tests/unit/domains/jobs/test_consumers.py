"""From a job's row to its end by messages: the stream, the queue, returned messages."""

from datetime import timedelta
from typing import Any

import pytest

from backend.core.errors import ConflictError, UnavailableError, VitrineError
from backend.core.transactions import Update
from backend.domains.asset_lifecycle.errors import JobOvertakenError
from backend.domains.asset_versions.errors import (
    AliasTakenError,
    RequestLostError,
    VersionOvertakenError,
)
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.files.errors import SourceGoneError
from backend.domains.jobs.errors import JobExistsError, JobStateError
from backend.domains.jobs.service.consumers import JobStarter
from backend.domains.jobs.service.runner import LEASE_SECONDS
from backend.domains.metadata.errors import SchemaViolationError
from backend.spec.jobs import DELETE_ASSET, JOB_KINDS
from backend.spec.metrics import BATCHES_GIVEN_BACK
from backend.spec.queues import LIFECYCLE
from backend.spec.tables.operations import JOBS
from tests.factories.jobs import ADMIN, PAGES, Counting, JobWorld, KilledError, Message, die
from tests.fakes.queues import MemoryQueues

ID = "archiveAsset.museum.pump.2"


@pytest.fixture
def world() -> JobWorld:
    made = JobWorld(Counting())
    made.start()
    made.deliver_stream()
    return made


def image(state: str, kind: str) -> dict[str, Any]:
    texts = {"jobId": f"{kind}.x", "state": state, "kind": kind}
    return {"dynamodb": {"NewImage": {name: {"S": text} for name, text in texts.items()}}}


def held(world: JobWorld) -> Update:
    """The lease of the job, renewed by its worker."""
    until = int(world.now.timestamp() * 1000) + LEASE_SECONDS * 1000
    return Update(table=JOBS, key={"jobId": ID}, set={"leaseUntil": until})


def test_queued_jobs_are_sent_to_the_queues_of_their_kinds(world: JobWorld) -> None:
    queues = MemoryQueues()
    records = [image("queued", name) for name in JOB_KINDS]
    JobStarter(queues).consume({"Records": records})
    assert sorted((queue, body["jobId"]) for queue, body, _ in queues.sent) == sorted(
        (kind.queue.name, f"{name}.x") for name, kind in JOB_KINDS.items()
    )
    states = ("running", "done", "failed", "cancelled")
    removed = {"dynamodb": {"Keys": {"jobId": {"S": "x"}}}}
    records = [*(image(state, "archiveAsset") for state in states), removed]
    records.append(image("queued", "ofAnotherProduct"))
    JobStarter(queues).consume({"Records": records})
    assert len(queues.sent) == len(JOB_KINDS)
    held_one, free_one = (image("queued", "makeAssetVersion") for _ in range(2))
    held_one["dynamodb"]["NewImage"]["leaseUntil"] = {"N": "1700000000000"}
    free_one["dynamodb"]["NewImage"]["leaseUntil"] = {"N": "0"}
    JobStarter(queues).consume({"Records": [held_one, free_one]})
    assert [delay for _, _, delay in queues.sent[-2:]] == [3, 0]
    world = JobWorld(world.pages)
    job = world.jobs.new(DELETE_ASSET, "deleteAsset.a", caller=ADMIN, database_id="museum")
    world.tables.write(world.jobs.put(job))
    world.drain()
    failed = world.job("deleteAsset.a")
    assert failed.state == "failed"
    assert failed.problems == ["There is no worker for jobs of the kind deleteAsset"]


def test_a_job_is_processed_once_by_its_message(world: JobWorld) -> None:
    with pytest.raises(JobExistsError):
        world.start()
    assert len(world.messages) == 1
    (message,) = world.messages
    world.deliver(message, repeatable=True)
    world.deliver(message)
    assert world.job().state == "done"
    assert world.sent == 1
    assert world.pages.done == list(range(PAGES))
    assert world.messages == []


def test_a_job_that_takes_longer_sends_the_next_message(world: JobWorld) -> None:
    def take_long(page: int) -> None:
        world.now += timedelta(seconds=11)

    world.pages.after = take_long
    world.drain()
    assert world.job().state == "done"
    assert world.sent == 3
    assert world.pages.done == list(range(PAGES))


def test_a_message_of_a_job_with_another_worker_is_retried_soon(world: JobWorld) -> None:
    def meet(page: int) -> None:
        world.pages.after = lambda page: None
        world.messages.append(Message({"jobId": ID}, world.now, 99))
        world.deliver(world.messages[-1])

    world.pages.after = meet
    world.deliver(world.messages[0])
    (left,) = world.messages
    assert left.due - world.now == timedelta(seconds=3) < timedelta(seconds=LEASE_SECONDS)
    world.drain()
    assert world.pages.done == list(range(PAGES))


def test_a_worker_that_dies_between_step_and_advance_is_followed_by_another(
    world: JobWorld,
) -> None:
    def die(page: int) -> None:
        if page == 2:
            world.pages.after = lambda page: None
            raise KilledError

    world.pages.after = die
    world.drain()
    assert (world.job().state, world.job().items_done) == ("done", 15)
    assert world.pages.done == [0, 1, 2, 2, 3, 4]


def test_a_worker_that_dies_between_advance_and_send_is_followed_by_another(
    world: JobWorld,
) -> None:
    def die(operation: str) -> None:
        world.before = lambda operation: None
        raise KilledError

    world.pages.waits = {1: 5}
    world.before = die
    world.drain()
    assert world.job().state == "done"
    assert world.pages.done == list(range(PAGES))


def test_a_message_that_failed_in_an_outage_is_delivered_again(world: JobWorld) -> None:
    def fail(page: int) -> None:
        world.pages.before = lambda page: None
        raise UnavailableError("S3 does not answer")

    world.pages.before = fail
    assert world.deliver_due()
    (left,) = world.messages
    assert left.due - world.now == timedelta(seconds=10)
    assert world.rung == [BATCHES_GIVEN_BACK]
    world.drain()
    assert world.job().state == "done"
    assert world.rung == [BATCHES_GIVEN_BACK]


@pytest.mark.parametrize(
    "seconds", [1, 900, 901, 4000], ids=["short", "longest delay", "longer", "hour"]
)
def test_a_job_waits_for_the_time_that_its_step_returns(world: JobWorld, seconds: int) -> None:
    begun = world.now
    world.pages.waits = {0: seconds}
    world.drain()
    assert world.job().state == "done"
    assert world.now - begun == timedelta(seconds=seconds)


def test_a_wait_is_not_cut_short_by_a_message_that_comes_twice(world: JobWorld) -> None:
    world.pages.waits = {0: 500}
    world.deliver(world.messages[0], repeatable=True)
    world.deliver(world.messages[0])
    assert world.pages.done == [0]
    assert {message.due - world.now for message in world.messages} == {timedelta(seconds=500)}
    world.drain()
    assert world.pages.done == list(range(PAGES))


def test_a_message_that_came_twice_outlives_a_job_that_takes_a_day(world: JobWorld) -> None:
    (message,) = world.messages
    until = world.now + timedelta(days=1)

    def work(page: int) -> None:
        while world.now < until:
            world.tables.write(held(world))
            world.deliver(message)
            world.now = message.due

    world.pages.before = work
    world.deliver(Message(message.body, world.now, 7), repeatable=True)
    assert message.received < LIFECYCLE.max_receives
    assert message.due - world.now <= timedelta(seconds=300)


def test_a_job_that_was_cancelled_is_not_started_and_one_that_is_resumed_continues(
    world: JobWorld,
) -> None:
    world.jobs.cancel_job(ADMIN, ID)
    world.drain()
    assert (world.job().state, world.pages.done) == ("cancelled", [])
    world.jobs.resume_job(ADMIN, ID)
    world.drain()
    assert (world.job().state, world.pages.done) == ("done", list(range(PAGES)))


def test_a_job_that_is_resumed_does_not_meet_the_worker_that_it_was_taken_from(
    world: JobWorld,
) -> None:
    def resume(page: int) -> None:
        world.pages.after = lambda page: None
        world.jobs.cancel_job(ADMIN, ID)
        world.jobs.resume_job(ADMIN, ID)
        world.deliver_stream()
        world.deliver(world.messages[-1])

    world.pages.after = resume
    world.deliver(world.messages[0])
    assert world.pages.done == [0]
    assert world.job().state == "queued"
    world.drain()
    assert world.pages.done == [0, *range(PAGES)]
    assert (world.job().state, world.job().items_done) == ("done", 15)


@pytest.mark.parametrize("begun", [False, True])
def test_a_job_whose_message_was_lost_is_resumed_after_an_hour(
    world: JobWorld, begun: bool
) -> None:
    if begun:
        world.pages.after = die
        world.deliver(world.messages[0])
        world.pages.after = lambda page: None
    world.messages.clear()
    world.now += timedelta(minutes=59)
    with pytest.raises(JobStateError, match="cannot be resumed"):
        world.jobs.resume_job(ADMIN, ID)
    world.now += timedelta(minutes=2)
    world.jobs.resume_job(ADMIN, ID)
    world.drain()
    assert world.job().state == "done"


def test_a_job_that_waits_for_hours_is_not_taken_for_lost(world: JobWorld) -> None:
    world.pages.waits = {0: 9000}
    world.deliver(world.messages[0])
    world.now += timedelta(hours=2)
    with pytest.raises(JobStateError, match="cannot be resumed"):
        world.jobs.resume_job(ADMIN, ID)


@pytest.mark.parametrize("body", ["text", 3, {"jobId": 3}, {"jobId": ""}, {"databaseId": "museum"}])
def test_a_message_that_names_no_job_is_kept_as_poison(world: JobWorld, body: object) -> None:
    message = Message(body, world.now, 7)
    world.messages.append(message)
    world.deliver(message)
    assert message not in world.messages
    assert [(name, reason) for name, _, reason in world.kept] == [("7", "the message names no job")]


def test_ended_cancelled_and_expired_jobs_raise_no_alarm(world: JobWorld) -> None:
    message = Message({"jobId": "archiveAsset.museum.old.1"}, world.now, 7)
    world.messages.append(message)
    world.deliver(message)
    assert message not in world.messages
    assert world.kept == []
    world.drain()
    other = world.start("archiveAsset.museum.coin.2")
    world.jobs.cancel_job(ADMIN, other.job_id)
    world.drain()
    assert world.rung == []


def test_a_job_that_fails_raises_one_alarm(world: JobWorld) -> None:
    def fail(page: int) -> None:
        raise ConflictError("the bucket is gone")

    world.pages.after = fail
    (message,) = world.messages
    world.deliver(message, repeatable=True)
    assert [metric.name for metric in world.rung] == ["JobFailed"]
    world.now += timedelta(seconds=1)
    world.deliver(message)
    assert len(world.rung) == 1
    assert world.messages == []


@pytest.mark.parametrize(
    "error",
    [
        AliasTakenError("final"),
        AssetNotFoundError("museum", "pump"),
        JobOvertakenError("pump"),
        RequestLostError(),
        SchemaViolationError.of("price", "is no number"),
        SourceGoneError("pump/a.glb"),
        VersionOvertakenError("pump"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_job_that_a_users_change_overtook_fails_and_raises_no_alarm(
    world: JobWorld, error: VitrineError
) -> None:
    def fail(page: int) -> None:
        raise error

    world.pages.after = fail
    world.drain()
    assert (world.job().state, world.job().problems) == ("failed", [error.message])
    assert world.rung == []


def test_a_job_that_is_abandoned_raises_an_alarm_though_an_earlier_one_was_overtaken(
    world: JobWorld,
) -> None:
    def fail(page: int) -> None:
        raise JobOvertakenError("pump")

    world.pages.after = fail
    world.drain()
    world.start("archiveAsset.museum.coin.2")

    world.pages.after = die
    world.drain()
    assert world.job("archiveAsset.museum.coin.2").state == "failed"
    assert [metric.name for metric in world.rung] == ["JobFailed"]
