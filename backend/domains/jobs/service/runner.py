"""Runs the steps of a job: one worker at a time, each step counted exactly once.

A worker acquires a lease by a conditional write, runs a step, and records it on the condition that
step and lease are unchanged. The lease of a worker that dies expires; the next one repeats the
step, which must be repeatable. The lease prevents two workers from doing the same work at the same
time; that no step is counted twice is ensured by the condition alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backend.core.clock import Clock, iso
from backend.core.errors import UnavailableError, VitrineError
from backend.domains.jobs.errors import JobChangedError, JobNotFoundError
from backend.domains.jobs.models import MAX_PROBLEMS, Job, Progress, Step
from backend.domains.jobs.repository import JobRepository

# Long enough for a usual step, short enough that the work of a dead process continues soon. It
# doubles after each try without progress (decision 11).
LEASE_SECONDS = 30
# Twice the longest timeout of a worker's function.
LONGEST_LEASE_SECONDS = 240
# Leases without an advance after which a job fails, because its step kills its workers. Outages are
# not counted: they release the lease.
MAX_TRIES = 20


@dataclass(eq=False, repr=False)
class JobRunner:
    """Runs jobs. `lease_seconds` is how long a dead worker keeps others from its job."""

    jobs: JobRepository
    clock: Clock
    lease_seconds: int = LEASE_SECONDS

    def run(self, job_id: str, step: Step, *, until: datetime, to_end: bool = False) -> Job | None:
        """Run steps of a job until it is finished, has to wait, or the time is used up.

        Returns the job in its new state; None if another worker holds it. At least one step is
        tried. With `to_end`, no step is started that would end after `until` if it took as long as
        the longest so far.

        Raises:
            JobNotFoundError: the job does not exist.
            UnavailableError: a service is unavailable; the job can be continued later.
        """
        job = self.jobs.get(job_id)
        if job is None:
            raise JobNotFoundError(job_id)
        if job.is_finished:
            return job
        # Another worker has the lease, or the job waits.
        if job.lease_until > self._now():
            return None
        return self._run(job, step, until=until, to_end=to_end)

    def run_new(self, job: Job, step: Step, *, until: datetime) -> Job | None:
        """As `run` with `to_end`, for a job that the caller has put with a lease (`held`)."""
        return self._run(job, step, until=until, to_end=True)

    def with_lease(self, job: Job) -> Job:
        """Return a job to put with a lease: no worker begins it before the caller."""
        return job.model_copy(update={"lease_until": self._now() + 1000 * self.lease_seconds})

    def _run(self, taken: Job, step: Step, *, until: datetime, to_end: bool) -> Job | None:
        try:
            job = self._lease_job(taken)
            begun, longest = self.clock(), timedelta(0)
            while job.state == "running":
                job, waits = self._after_step(job, step)
                if waits or job.is_finished:
                    return job
                now = self.clock()
                begun, longest = now, max(longest, now - begun)
                if (now + longest if to_end else now) >= until:
                    return self.jobs.change(job, {"leaseUntil": 0})
        except JobChangedError:  # cancelled, or the lease expired and another worker has it
            stored = self.jobs.get(taken.job_id)
            return stored if stored is None or stored.is_finished else None
        return job

    def _lease_job(self, job: Job) -> Job:
        """Acquire a lease for the job; longer than the last one if that had no result."""
        if job.tries >= MAX_TRIES:
            return self._fail_job(
                job, f"step {job.step} was tried {job.tries} times and never completed"
            )
        lease = min(self.lease_seconds * 2**job.tries, LONGEST_LEASE_SECONDS)
        # No two leases of a job end at the same time (see `Job`), also if it was put with one.
        until = max(self._now() + 1000 * lease, job.lease_until + 1)
        changes = {"state": "running", "leaseUntil": until, "tries": job.tries + 1}
        return self.jobs.change(job, self._with_time(changes))

    def _after_step(self, job: Job, step: Step) -> tuple[Job, bool]:
        """Return the job after its next step, and whether it has to wait before another one."""
        try:
            progress = step(job)
        # An outage is no try of this step.
        except UnavailableError:
            self._release(job)
            raise
        except VitrineError as error:
            return self._fail_job(job, error.message), False
        return self.jobs.change(job, self._changes(job, progress)), progress.wait_seconds > 0

    def _changes(self, job: Job, progress: Progress) -> dict[str, Any]:
        now = self._now()
        state = "running"
        if progress.finished:
            state = "cancelled" if progress.undone else "done"
            lease = 0
        elif progress.wait_seconds:
            lease = now + 1000 * progress.wait_seconds
        else:
            lease = max(now + 1000 * self.lease_seconds, job.lease_until + 1)
        problems = [*job.problems, *progress.problems]
        return self._with_time(
            {
                "state": state,
                "cursor": progress.cursor,
                "itemsDone": job.items_done + progress.items,
                "problems": problems[:MAX_PROBLEMS],
                "step": job.step + 1,
                "leaseUntil": lease,
                "tries": 0,
            }
        )

    def _fail_job(self, job: Job, problem: str) -> Job:
        problems = [*job.problems[: MAX_PROBLEMS - 1], problem]
        changes = {"state": "failed", "problems": problems, "leaseUntil": 0}
        return self.jobs.change(job, self._with_time(changes))

    def _release(self, job: Job) -> None:
        """Release the lease without counting a try; if that fails, it expires by itself."""
        try:
            self.jobs.change(job, {"leaseUntil": 0, "tries": max(0, job.tries - 1)})
        except (JobChangedError, UnavailableError):
            return

    def _with_time(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        return {**changes, "updatedAt": iso(self.clock())}

    def _now(self) -> int:
        return int(self.clock().timestamp() * 1000)
