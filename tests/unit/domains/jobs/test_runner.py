"""The steps of a job: leases, waits, failures, outages."""

from dataclasses import replace
from datetime import timedelta

import pytest

from backend.core.errors import ConflictError, UnavailableError
from backend.domains.jobs.errors import JobNotFoundError
from backend.domains.jobs.models import MAX_PROBLEMS, Job, Progress
from backend.domains.jobs.service.runner import LEASE_SECONDS, MAX_TRIES
from tests.factories.jobs import ADMIN, PAGES, Counting, JobWorld, KilledError

ID = "archiveAsset.museum.pump.2"


@pytest.fixture
def step() -> Counting:
    return Counting()


@pytest.fixture
def world(step: Counting) -> JobWorld:
    made = JobWorld(step)
    made.start()
    return made


def run(world: JobWorld, seconds: int = 60) -> Job | None:
    return world.runner.run(ID, world.step, until=world.now + timedelta(seconds=seconds))


def test_a_job_is_done_in_one_run_when_there_is_time(world: JobWorld, step: Counting) -> None:
    done = run(world)
    assert done is not None
    assert (done.state, done.step, done.items_done) == ("done", PAGES, 15)
    assert step.done == list(range(PAGES))
    assert world.job() == done


def test_a_finished_job_does_no_further_step(world: JobWorld, step: Counting) -> None:
    run(world)
    again = run(world)
    assert again is not None
    assert again.state == "done"
    assert len(step.done) == PAGES


def test_a_run_without_time_does_one_step_and_lets_the_job_go(world: JobWorld) -> None:
    for number in range(1, PAGES):
        left = run(world, seconds=0)
        assert left is not None
        assert (left.state, left.step, left.lease_until) == ("running", number, 0)


@pytest.mark.parametrize(("to_end", "steps"), [(False, 3), (True, 2)])
def test_a_run_that_has_to_end_begins_no_step_that_would_end_too_late(
    world: JobWorld, step: Counting, *, to_end: bool, steps: int
) -> None:
    def take_time(page: int) -> None:
        world.now += timedelta(seconds=4)

    step.after = take_time
    until = world.now + timedelta(seconds=11)
    left = world.runner.run(ID, step, until=until, to_end=to_end)
    assert left is not None
    assert (left.step, left.lease_until) == (steps, 0)


def test_an_unknown_job_is_not_found(world: JobWorld) -> None:
    with pytest.raises(JobNotFoundError):
        world.runner.run("archiveAsset.museum.none.1", world.step, until=world.now)


def test_a_second_worker_gets_nothing_while_the_first_one_holds_the_job(
    world: JobWorld, step: Counting
) -> None:
    seen: list[Job | None] = []
    step.after = lambda page: seen.append(run(world))
    run(world)
    assert seen == [None] * PAGES
    assert step.done == list(range(PAGES))


def test_a_worker_whose_lease_ran_out_notes_nothing(world: JobWorld, step: Counting) -> None:
    def overtake(page: int) -> None:
        step.after = lambda page: None
        world.now += timedelta(seconds=LEASE_SECONDS)
        other = run(world, seconds=0)
        assert other is not None
        assert other.step == 1

    step.after = overtake
    assert run(world) is None
    assert world.job().step == 1
    assert step.done == [0, 0]


def test_a_worker_whose_lease_ran_out_does_not_release_that_of_another(
    world: JobWorld, step: Counting
) -> None:
    other: list[Job] = []

    def overtake(page: int) -> None:
        step.after = die
        mine = world.job()
        assert world.jobs.is_held(mine)
        world.now += timedelta(seconds=LEASE_SECONDS)
        with pytest.raises(KilledError):
            run(world)
        assert not world.jobs.is_held(mine)
        other.append(world.job())
        raise UnavailableError("the tables are away")

    def die(page: int) -> None:
        raise KilledError

    step.after = overtake
    with pytest.raises(UnavailableError):
        run(world)
    assert world.job() == other[0]


def test_the_job_of_a_dead_worker_continues_when_its_lease_has_run_out(
    world: JobWorld, step: Counting
) -> None:
    def die(page: int) -> None:
        step.after = lambda page: None
        raise KilledError

    step.after = die
    with pytest.raises(KilledError):
        run(world)
    assert run(world) is None
    world.now += timedelta(seconds=LEASE_SECONDS)
    done = run(world)
    assert done is not None
    assert (done.state, done.step, done.items_done) == ("done", PAGES, 15)


@pytest.mark.parametrize("seconds", [5, LEASE_SECONDS])
def test_a_lease_has_the_duration_that_the_runner_passes(
    world: JobWorld, step: Counting, seconds: int
) -> None:
    runner = replace(world.runner, lease_seconds=seconds)
    held: list[int] = []
    step.before = lambda page: held.append(world.job().lease_until)
    runner.run(ID, step, until=world.now + timedelta(seconds=20))
    begun = int(world.now.timestamp() * 1000)
    assert held[0] == begun + 1000 * seconds


def test_a_step_that_kills_its_workers_is_abandoned(world: JobWorld, step: Counting) -> None:
    def die(page: int) -> None:
        raise KilledError

    step.after = die
    for _ in range(MAX_TRIES):
        with pytest.raises(KilledError):
            run(world)
        world.now += timedelta(minutes=5)
    failed = run(world)
    assert failed is not None
    assert failed.state == "failed"
    assert failed.problems == ["step 0 was tried 20 times and never completed"]


def test_a_lease_is_longer_after_a_try_that_came_to_nothing(
    world: JobWorld, step: Counting
) -> None:
    lengths: list[float] = []

    def die(page: int) -> None:
        lengths.append(world.job().lease_until / 1000 - world.now.timestamp())
        raise KilledError

    step.before = die
    for _ in range(5):
        with pytest.raises(KilledError):
            run(world)
        world.now += timedelta(minutes=5)
    assert lengths == [30, 60, 120, 240, 240]


def test_an_outage_lets_the_job_go_and_is_no_try(world: JobWorld, step: Counting) -> None:
    def fail(page: int) -> None:
        raise UnavailableError("S3 does not answer")

    step.before = fail
    for _ in range(MAX_TRIES + 1):
        with pytest.raises(UnavailableError):
            run(world)
    job = world.job()
    assert (job.state, job.tries, job.lease_until, job.problems) == ("running", 0, 0, [])


def test_an_outage_of_the_table_itself_leaves_the_lease_to_run_out(
    world: JobWorld, step: Counting
) -> None:
    def fail(page: int) -> None:
        def refuse(operation: str) -> None:
            raise UnavailableError("DynamoDB does not answer")

        world.tables.before = refuse
        raise UnavailableError("DynamoDB does not answer")

    step.before = fail
    with pytest.raises(UnavailableError):
        run(world)
    world.tables.before = lambda operation: None
    assert run(world) is None


def test_an_error_of_a_step_fails_the_job_with_its_message(world: JobWorld, step: Counting) -> None:
    def fail(page: int) -> None:
        if page == 1:
            raise ConflictError("the bucket is gone")

    step.before = fail
    failed = run(world)
    assert failed is not None
    assert (failed.state, failed.step, failed.lease_until) == ("failed", 1, 0)
    assert failed.problems == ["the bucket is gone"]


def test_a_job_that_waits_does_not_continue_before_it_is_time(
    world: JobWorld, step: Counting
) -> None:
    step.waits = {1: 900}
    waiting = run(world)
    assert waiting is not None
    assert (waiting.state, waiting.step) == ("running", 2)
    world.now += timedelta(seconds=899)
    assert run(world) is None
    world.now += timedelta(seconds=1)
    done = run(world)
    assert done is not None
    assert done.state == "done"


def test_a_job_shows_twenty_problems_at_the_most(world: JobWorld) -> None:
    def complain(job: Job) -> Progress:
        return Progress(finished=job.step == 9, problems=tuple(f"{job.step}.{n}" for n in range(7)))

    done = world.runner.run(ID, complain, until=world.now + timedelta(seconds=1))
    assert done is not None
    assert len(done.problems) == MAX_PROBLEMS
    assert done.problems[0] == "0.0"


def test_why_a_job_failed_is_reported_however_many_problems_there_were(world: JobWorld) -> None:
    def complain(job: Job) -> Progress:
        if job.step:
            raise ConflictError("the bucket is gone")
        return Progress(problems=("odd",) * 30)

    failed = world.runner.run(ID, complain, until=world.now + timedelta(seconds=1))
    assert failed is not None
    assert len(failed.problems) == MAX_PROBLEMS
    assert failed.problems[-1] == "the bucket is gone"


def test_a_job_that_is_cancelled_stops_before_its_next_step(
    world: JobWorld, step: Counting
) -> None:
    def cancel(page: int) -> None:
        if page == 1:
            world.jobs.cancel_job(ADMIN, ID)

    step.after = cancel
    stopped = run(world)
    assert stopped is not None
    assert (stopped.state, stopped.step) == ("cancelled", 1)
    assert step.done == [0, 1]
