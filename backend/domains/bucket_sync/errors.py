"""The errors of bucket sync."""

from backend.core.errors import StateForbidsError


class ImportRunningError(StateForbidsError):
    """An import of the bucket is already running."""

    code = "ImportRunning"

    def __init__(self, bucket_id: str, job_id: str | None = None) -> None:
        job = "" if job_id is None else f": job {job_id}"
        super().__init__(f"An import of the bucket {bucket_id} is already running{job}")
