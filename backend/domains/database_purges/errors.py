"""The errors of database purges."""

from backend.core.errors import StateForbidsError


class DeletionFailedError(StateForbidsError):
    """An asset of the database could not be deleted."""

    code = "AssetDeletionFailed"

    def __init__(self, asset_id: str, job_id: str) -> None:
        super().__init__(
            f"Job {job_id}, which deletes asset {asset_id}, has failed: resume that job "
            "first, then the purge"
        )
