"""Whatever happens to messages and workers, every step of a job is noted exactly once."""

from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import UnavailableError
from backend.spec.tables.operations import JOBS
from tests.factories.jobs import ITEMS_A_PAGE, PAGES, Counting, JobWorld, KilledError

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
