"""The errors of jobs."""

from backend.core.errors import AlreadyExistsError, NotFoundError, StateForbidsError
from backend.domains.jobs.models import Job


class JobNotFoundError(NotFoundError):
    code = "JobNotFound"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Job {job_id} does not exist")


class JobExistsError(AlreadyExistsError):
    code = "JobExists"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Job {job_id} exists already")


class JobChangedError(StateForbidsError):
    """The job was changed by another process after it was read."""

    code = "JobChanged"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Job {job_id} was changed by someone else; read it again")


class JobSettledError(StateForbidsError):
    """The job has ended, or is being run by another worker."""

    code = "JobSettled"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Job {job_id} has ended, or is being run by another worker")


class JobStateError(StateForbidsError):
    """The state of the job does not allow the operation."""

    code = "JobStateForbids"

    def __init__(self, job: Job, fact: str) -> None:
        super().__init__(f"Job {job.job_id} {fact}")


class UnknownJobKindError(StateForbidsError):
    """There is no worker for jobs of this kind."""

    code = "UnknownJobKind"

    def __init__(self, kind: str) -> None:
        super().__init__(f"There is no worker for jobs of the kind {kind}")
