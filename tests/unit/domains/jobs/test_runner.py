"""The steps of a job: leases, waits, failures, outages; each step is noted exactly once."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import ConflictError, UnavailableError
from backend.domains.jobs.errors import JobNotFoundError
from backend.domains.jobs.models import MAX_PROBLEMS, Job, Progress
from backend.domains.jobs.service.runner import LEASE_SECONDS, MAX_TRIES
from backend.spec.tables.operations import JOBS
from tests.factories.jobs import ADMIN, ITEMS_A_PAGE, PAGES, Counting, JobWorld, KilledError, die
from tests.factories.outages import unavailable

ID = "archiveAsset.museum.pump.2"


@pytest.fixture
def world() -> JobWorld:
    made = JobWorld(Counting())
    made.start()
    return made


def test_a_job_is_done_once_in_one_run_when_there_is_time(world: JobWorld) -> None:
    done = world.run_job()
    assert (done.state, done.step, done.items_done) == ("done", PAGES, 15)
    assert world.pages.done == list(range(PAGES))
    assert world.job() == done
    again = world.run_job()
    assert again.state == "done"
    assert len(world.pages.done) == PAGES
    with pytest.raises(JobNotFoundError):
        world.runner.run("archiveAsset.museum.none.1", world.step, until=world.now)


def test_a_run_without_time_does_one_step_and_lets_the_job_go(world: JobWorld) -> None:
    for number in range(1, PAGES):
        left = world.run_job(seconds=0)
        assert (left.state, left.step, left.lease_until) == ("running", number, 0)


@pytest.mark.parametrize(("to_end", "steps"), [(False, 3), (True, 2)])
def test_a_run_that_has_to_end_begins_no_step_that_would_end_too_late(
    world: JobWorld, to_end: bool, steps: int
) -> None:
    def take_time(page: int) -> None:
        world.now += timedelta(seconds=4)

    world.pages.after = take_time
    left = world.run_job(11, to_end=to_end)
    assert (left.step, left.lease_until) == (steps, 0)


def test_a_second_worker_gets_nothing_while_the_first_one_holds_the_job(world: JobWorld) -> None:
    seen: list[Job | None] = []
    world.pages.after = lambda page: seen.append(world.run())
    world.run()
    assert seen == [None] * PAGES
    assert world.pages.done == list(range(PAGES))


def test_a_worker_whose_lease_ran_out_notes_nothing(world: JobWorld) -> None:
    def overtake(page: int) -> None:
        world.pages.after = lambda page: None
        world.now += timedelta(seconds=LEASE_SECONDS)
        other = world.run_job(seconds=0)
        assert other.step == 1

    world.pages.after = overtake
    assert world.run() is None
    assert world.job().step == 1
    assert world.pages.done == [0, 0]


def test_a_worker_whose_lease_ran_out_does_not_release_that_of_another(world: JobWorld) -> None:
    other: list[Job] = []

    def overtake(page: int) -> None:
        world.pages.after = die
        mine = world.job()
        assert world.jobs.is_held(mine)
        world.now += timedelta(seconds=LEASE_SECONDS)
        with pytest.raises(KilledError):
            world.run()
        assert not world.jobs.is_held(mine)
        other.append(world.job())
        raise UnavailableError("the tables are away")

    world.pages.after = overtake
    with pytest.raises(UnavailableError):
        world.run()
    assert world.job() == other[0]


def test_the_job_of_a_dead_worker_continues_when_its_lease_has_run_out(world: JobWorld) -> None:
    def die(page: int) -> None:
        world.pages.after = lambda page: None
        raise KilledError

    world.pages.after = die
    with pytest.raises(KilledError):
        world.run()
    assert world.run() is None
    world.now += timedelta(seconds=LEASE_SECONDS)
    done = world.run_job()
    assert (done.state, done.step, done.items_done) == ("done", PAGES, 15)


@pytest.mark.parametrize("seconds", [5, LEASE_SECONDS])
def test_a_lease_has_the_duration_that_the_runner_passes(world: JobWorld, seconds: int) -> None:
    runner = replace(world.runner, lease_seconds=seconds)
    held: list[int] = []
    world.pages.before = lambda page: held.append(world.job().lease_until)
    runner.run(ID, world.pages, until=world.now + timedelta(seconds=20))
    begun = int(world.now.timestamp() * 1000)
    assert held[0] == begun + 1000 * seconds


def test_a_step_that_kills_its_workers_has_longer_leases_and_is_abandoned(world: JobWorld) -> None:
    lengths: list[float] = []

    def die_within(page: int) -> None:
        lengths.append(world.job().lease_until / 1000 - world.now.timestamp())
        raise KilledError

    world.pages.before = die_within
    for _ in range(MAX_TRIES):
        with pytest.raises(KilledError):
            world.run()
        world.now += timedelta(minutes=5)
    assert lengths[:5] == [30, 60, 120, 240, 240]
    failed = world.run_job()
    assert failed.state == "failed"
    assert failed.problems == ["step 0 was tried 20 times and never completed"]


def test_an_outage_lets_the_job_go_or_its_lease_run_out_and_is_no_try(world: JobWorld) -> None:
    world.pages.before = unavailable
    for _ in range(MAX_TRIES + 1):
        with pytest.raises(UnavailableError):
            world.run()
    job = world.job()
    assert (job.state, job.tries, job.lease_until, job.problems) == ("running", 0, 0, [])

    def fail_with_tables(page: int) -> None:
        world.tables.before = unavailable
        raise UnavailableError("DynamoDB does not answer")

    world.pages.before = fail_with_tables
    with pytest.raises(UnavailableError):
        world.run()
    world.tables.before = lambda operation: None
    assert world.run() is None


def test_an_error_of_a_step_fails_the_job_with_its_message(world: JobWorld) -> None:
    def fail(page: int) -> None:
        if page == 1:
            raise ConflictError("the bucket is gone")

    world.pages.before = fail
    failed = world.run_job()
    assert (failed.state, failed.step, failed.lease_until) == ("failed", 1, 0)
    assert failed.problems == ["the bucket is gone"]


def test_a_job_that_waits_does_not_continue_before_it_is_time(world: JobWorld) -> None:
    world.pages.waits = {1: 900}
    waiting = world.run_job()
    assert (waiting.state, waiting.step) == ("running", 2)
    world.now += timedelta(seconds=899)
    assert world.run() is None
    world.now += timedelta(seconds=1)
    done = world.run_job()
    assert done.state == "done"


def test_a_job_shows_twenty_problems_at_the_most(world: JobWorld) -> None:
    def complain(job: Job) -> Progress:
        return Progress(finished=job.step == 9, problems=tuple(f"{job.step}.{n}" for n in range(7)))

    world.step = complain
    done = world.run_job()
    assert len(done.problems) == MAX_PROBLEMS
    assert done.problems[0] == "0.0"


def test_why_a_job_failed_is_reported_however_many_problems_there_were(world: JobWorld) -> None:
    def complain(job: Job) -> Progress:
        if job.step:
            raise ConflictError("the bucket is gone")
        return Progress(problems=("odd",) * 30)

    world.step = complain
    failed = world.run_job()
    assert len(failed.problems) == MAX_PROBLEMS
    assert failed.problems[-1] == "the bucket is gone"


def test_a_job_that_is_cancelled_stops_before_its_next_step(world: JobWorld) -> None:
    def cancel(page: int) -> None:
        if page == 1:
            world.jobs.cancel_job(ADMIN, ID)

    world.pages.after = cancel
    stopped = world.run_job()
    assert (stopped.state, stopped.step) == ("cancelled", 1)
    assert world.pages.done == [0, 1]


# What can happen before a request to a table or queue, or around the effect of a step.
ACCIDENTS = ("none", "none", "none", "kill", "outage", "slow", "second worker", "overtaken")


@dataclass
class Accidents:
    """Deals out accidents in an order that hypothesis chooses, then none any more."""

    world: JobWorld
    left: list[str] = field(default_factory=list[str])
    depth: int = 0

    def strike(self, where: object) -> None:
        if self.depth:  # the time of a second worker is enough for a step or two
            self.world.now += timedelta(seconds=3)
            return
        accident = self.left.pop() if self.left else "none"
        if accident == "kill":
            raise KilledError
        if accident == "outage":
            raise UnavailableError("an engine does not answer")
        if accident in {"slow", "overtaken"}:
            self.world.now += timedelta(seconds=40)
        if accident in {"second worker", "overtaken"} and self.world.messages:
            self.depth += 1
            try:
                self.world.deliver(self.world.messages[0], repeatable=True)
            finally:
                self.depth -= 1


@given(
    accidents=st.lists(st.sampled_from(ACCIDENTS), max_size=60),
    waits=st.dictionaries(st.integers(0, PAGES - 1), st.integers(1, 2000), max_size=2),
)
def test_every_step_is_noted_once_whatever_happens(
    accidents: list[str], waits: dict[int, int]
) -> None:
    step = Counting(waits=waits)
    world = JobWorld(step)
    world.start()
    world.deliver_stream()
    struck = Accidents(world, list(reversed(accidents)))
    world.tables.before = world.before = struck.strike
    step.before = step.after = struck.strike
    while struck.left:
        try:
            busy = world.deliver_due()
        except UnavailableError:  # the stream is delivered again
            continue
        if not busy and not world.messages:
            break
        if not busy:
            world.now += timedelta(seconds=30)
    struck.left = []
    world.drain()
    job = world.job()
    assert (job.state, job.step, job.problems) == ("done", PAGES, [])
    assert job.items_done == PAGES * ITEMS_A_PAGE
    assert step.effects == step.everything
    assert world.messages == []
    assert world.advances == list(range(1, PAGES + 1))
    assert len(world.tables.rows(JOBS)) == 1
