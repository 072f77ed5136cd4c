"""The steps of a purge, which remove the remains of a deleted database in sweeps.

A sweep starts the jobs that delete the archived assets, waits until every job of the database has
ended and removes their rows, then removes metadata and schemas. Data that running requests still
write at the time of the purge, or that the table indexes did not contain yet, is removed by another
sweep after the longest time of both. Sweeps are repeated until one finds nothing; then the row of
the database is removed, and its id can be used again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from backend.core.identity import Identity
from backend.core.paging import PageRequest, Position
from backend.domains.asset_lifecycle.models import MAX_SWEEPS, MIN_SWEEPS
from backend.domains.asset_lifecycle.service.commands import LifecycleService
from backend.domains.assets.service.commands import AssetService
from backend.domains.database_purges import rules
from backend.domains.database_purges.errors import DeletionFailedError
from backend.domains.database_purges.models import PurgeCursor
from backend.domains.database_purges.repository import PurgeRepository
from backend.domains.databases.errors import PurgeEndedError
from backend.domains.databases.service import DatabaseService
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service.commands import JobService
from backend.spec.jobs import DELETE_ASSET
from backend.values import frozen

ASSETS = 20
"""Assets whose deletion one step starts."""
# Time between two such steps. Two deletions a second leave room for other jobs: ten workers take
# some seconds for each.
PAUSE_SECONDS = 10
JOBS = 100
"""Jobs that one step checks."""
# Maximum time until the next check of running jobs. Deletions take the settle delay.
LOOK_AGAIN_SECONDS = 30


@frozen
class _Removed:
    """The result of one page of a part; `more` means that the part has not ended."""

    items: int
    more: bool = False
    after: Position | None = None
    wait_seconds: int = 0


_Part = Callable[[Job, Position | None], _Removed]


@dataclass(eq=False, repr=False)
class PurgeSteps:
    """`wait_seconds` is how long requests and table indexes may lag."""

    repository: PurgeRepository
    databases: DatabaseService
    assets: AssetService
    lifecycle: LifecycleService
    jobs: JobService
    wait_seconds: int
    assets_a_step: int = ASSETS

    def purge(self, job: Job) -> Progress:
        """Remove the next page of remains; empty parts are skipped.

        Repeated after the end, when another database may have the id, it has no effect.

        Raises:
            DeletionFailedError: the job that deletes an asset has failed.
            PurgeEndedError: another worker has ended the purge.
        """
        database_id = _database_of(job)
        if not self.databases.is_held_by(database_id, job.job_id):
            return Progress(finished=True)
        cursor = PurgeCursor.model_validate(job.cursor)
        parts = self._parts(database_id)
        while cursor.part < len(parts):
            removed = parts[cursor.part](job, cursor.after)
            cursor = PurgeCursor(
                sweep=cursor.sweep,
                part=cursor.part if removed.more else cursor.part + 1,
                after=None if removed.after is None else dict(removed.after),
                found=cursor.found + removed.items,
            )
            if removed.items or removed.wait_seconds:
                return _progress(cursor, items=removed.items, wait_seconds=removed.wait_seconds)
        return self._end_sweep(job, cursor)

    def _end_sweep(self, job: Job, cursor: PurgeCursor) -> Progress:
        """After a sweep, start another one, or end the purge."""
        done = cursor.sweep + 1
        if done < MIN_SWEEPS or (cursor.found and done < MAX_SWEEPS):
            return _progress(PurgeCursor(sweep=done), wait_seconds=self.wait_seconds)
        self.databases.release(_database_of(job), job.job_id)
        return Progress(finished=True)

    def _parts(self, database_id: str) -> tuple[_Part, ...]:
        """Return the parts of a sweep; after the part of jobs, no worker writes any more."""
        rows = (partial(self._rows, remain) for remain in rules.queried_remains(database_id))
        return (self._archived_assets, self._other_jobs, *rows, self._scopes)

    def _archived_assets(
        self,
        job: Job,
        after: Position | None,  # noqa: ARG002 - always the first ones that are left
    ) -> _Removed:
        database_id = _database_of(job)
        started = self.lifecycle.delete_archived(
            Identity(job.created_by),
            database_id,
            self.databases.require_held(database_id, job.job_id),
            limit=self.assets_a_step,
            reason=f"Database {database_id} is purged",
        )
        pause = PAUSE_SECONDS if started == self.assets_a_step else 0
        return _Removed(started, more=started > 0, wait_seconds=pause)

    def _other_jobs(self, job: Job, after: Position | None) -> _Removed:
        """Remove jobs that have ended; wait for the others, and read their page again."""
        page = self.jobs.list_in_database(_database_of(job), PageRequest(JOBS, after))
        others = [item for item in page.items if item.job_id != job.job_id]
        for other in others:
            self._check_deleted(other)
        ended = [item for item in others if item.is_finished]
        if ended:
            self._check_held(job)
            self.jobs.remove(ended)
        if len(ended) < len(others):
            wait_seconds = min(LOOK_AGAIN_SECONDS, self.wait_seconds)
            return _Removed(len(ended), more=True, after=after, wait_seconds=wait_seconds)
        return _Removed(len(ended), more=page.after is not None, after=page.after)

    def _check_deleted(self, job: Job) -> None:
        """Fail if a deletion has failed and still reserves the asset's id."""
        if job.kind != DELETE_ASSET.name or job.state != "failed":
            return
        asset_id = job.asset_id or ""
        if self.assets.is_deleted_by(asset_id, job.job_id):
            raise DeletionFailedError(asset_id, job.job_id)

    def _rows(self, remains: rules.RemainingRows, job: Job, after: Position | None) -> _Removed:
        page = self.repository.remove(remains, after, partial(self._check_held, job))
        return _Removed(len(page.items), page.after is not None, page.after)

    def _scopes(self, job: Job, after: Position | None) -> _Removed:  # noqa: ARG002
        self._check_held(job)
        self.repository.remove_scopes(_database_of(job))
        return _Removed(0)

    def _check_held(self, job: Job) -> None:
        """Require that the rows belong to the purged database."""
        # A worker may be delayed past its lease, and another database may have the id then.
        if not self.databases.is_held_by(_database_of(job), job.job_id):
            raise PurgeEndedError(_database_of(job))


def _database_of(job: Job) -> str:
    return job.database_id or ""


def _progress(cursor: PurgeCursor, *, items: int = 0, wait_seconds: int = 0) -> Progress:
    dumped = cursor.model_dump(by_alias=True, exclude_none=True)
    return Progress(dumped, items=items, wait_seconds=wait_seconds)
