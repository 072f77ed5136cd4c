"""Jobs: list, get, cancel, resume, wait."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from vitrine.errors import VitrineError
from vitrine.models import Job
from vitrine.resources.resource import Resource
from vitrine.transport import path_of

# Most jobs take less than a second; the pauses grow for those of minutes.
FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 5.0


class JobUnfinishedError(VitrineError):
    """The job failed, was cancelled, or did not end in time."""

    def __init__(self, job: Job, fact: str) -> None:
        self.job = job
        reasons = f": {'; '.join(job.problems)}" if job.problems else ""
        super().__init__(f"job {job.job_id} {fact}{reasons}")


class Jobs(Resource):
    def list(self) -> Iterator[Job]:
        """List the jobs that the caller started, newest first."""
        return self._transport.pages(Job, path_of("jobs"), items="items")

    def get(self, job_id: str) -> Job:
        return self._transport.read(Job, path_of("jobs", job_id))

    def cancel(self, job_id: str) -> Job:
        """Cancel the job. Raises ConflictError if it has ended, or cannot be cancelled."""
        return self._transport.write(Job, "POST", path_of("jobs", job_id, "cancel"), body={})

    def resume(self, job_id: str) -> Job:
        """Resume the job. Raises ConflictError if it is not `resumable`."""
        return self._transport.write(Job, "POST", path_of("jobs", job_id, "resume"), body={})

    def wait(
        self,
        job_id: str,
        *,
        timeout: float = 600.0,
        seen: Callable[[Job], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> Job:
        """Wait until the job is done, and return it; `seen` is called with each state.

        Raises:
            JobUnfinishedError: it failed, was cancelled, or is not done in time.
        """
        started, pause = clock(), FIRST_PAUSE
        while True:
            job = self.get(job_id)
            if seen is not None:
                seen(job)
            if job.state == "done":
                return job
            if job.state in {"failed", "cancelled"}:
                raise JobUnfinishedError(job, f"is {job.state}")
            if clock() - started >= timeout:
                raise JobUnfinishedError(job, f"is still {job.state} after {timeout:g} s")
            sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)
