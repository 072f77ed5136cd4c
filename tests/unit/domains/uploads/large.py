"""A gallery where ten bytes are large by default, with the jobs and the worker of large files."""

from datetime import timedelta

from backend.aws.objects import S3Objects
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.runner import JobRunner
from backend.domains.uploads.service.waiting_previews import WaitingPreviews
from backend.spec.jobs import WAITING_PREVIEWS
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.operations import JOBS
from tests.factories.assets import NOON
from tests.factories.files import BUCKET, gallery


class KilledError(BaseException):
    """Nothing after it runs, as after kill -9."""


class World:
    """A gallery (where ten bytes are large), the jobs that were put, and the time."""

    def __init__(self, tables: Tables, objects: S3Objects, *, large_bytes: int = 10) -> None:
        self.now = NOON
        self.tables = tables
        self.museum = gallery(tables, objects, clock=lambda: self.now, large_bytes=large_bytes)

    def job_ids(self) -> list[str]:
        return sorted(str(row["jobId"]) for row in self.tables.scan(JOBS, PageRequest(100)).items)

    def job(self, job_id: str) -> Job:
        row = JobRepository(self.tables).get(job_id)
        assert row is not None
        return row

    def run(self, job_id: str) -> Job | None:
        """One message of the job."""
        runner = JobRunner(JobRepository(self.tables), lambda: self.now)
        until = self.now + timedelta(seconds=20)
        large_files = self.museum.large_files
        previews = WaitingPreviews(large_files.context, large_files.settlement)
        is_preview = self.job(job_id).kind == WAITING_PREVIEWS.name
        return runner.run(job_id, previews.step if is_preview else large_files.step, until=until)

    def archive(self) -> None:
        """Move the row of the asset, as archiving does."""
        key = {"databaseId": "museum", "assetId": "statue"}
        row = self.tables.get(ASSETS, key)
        assert row is not None
        gone = {**row, "databaseId": "museum#deleted", "status": "archived"}
        self.tables.put_many(ASSETS, [gone])
        self.tables.delete_many(ASSETS, [key])

    def drain(self, rounds: int = 50) -> None:
        """Deliver the messages of all jobs until they are finished; the time passes."""
        for _ in range(rounds):
            left = self.unfinished()
            if not left:
                return
            for job_id in left:
                self.run(job_id)
            self.now += timedelta(seconds=60)
        raise AssertionError(f"there is no end to {self.unfinished()}")

    def unfinished(self) -> list[str]:
        return [job_id for job_id in self.job_ids() if not self.job(job_id).is_finished]

    def versions(self) -> int:
        prefix = self.museum.asset.asset_location.key
        return len(self.museum.objects.list_versions(BUCKET, prefix).versions)

    def open_multiparts(self) -> list[str]:
        return [multipart.key for multipart in self.museum.objects.list_multiparts(BUCKET, "")]


def states(world: World, upload_id: str) -> dict[str, str]:
    files = world.museum.upload(upload_id).body["files"]
    return {file["relativeKey"]: file["state"] for file in files}
