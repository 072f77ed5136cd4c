"""Walks what stands in a bucket already: a job, page by page in the order of the keys.

The walk makes the same decisions as the sync does for events, so that both may meet. An asset that
is made has its files indexed by that alone; those of assets that were there before the walk are
asked for, since nobody can know which of their events ever came.
"""

from collections.abc import Iterator

from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.objects import Objects
from backend.core.rebuild_requests import RebuildRequests
from backend.core.wired import wired
from backend.domains.audit.models import bucket_entity
from backend.domains.audit.service import AuditService
from backend.domains.bucket_sync.models import Followed, NamedObject
from backend.domains.bucket_sync.repository import ImportRepository, ImportRunningError
from backend.domains.bucket_sync.service.skips import SkipNotes, sentence
from backend.domains.bucket_sync.service.syncing import BucketSync
from backend.domains.buckets.service import BucketService
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service import JobService
from backend.spec.jobs import IMPORT_BUCKET

PAGE = 500
"""Objects a step: at the worst as many assets, which takes a worker some seconds."""


@wired
class BucketImports:
    """Starts imports, one at a time for each bucket."""

    imports: ImportRepository
    buckets: BucketService
    jobs: JobService
    audit: AuditService
    clock: Clock
    new_id: NewId = new_uuid

    def import_bucket(self, caller: Identity, bucket_id: str) -> Job:
        """Start the walk over what stands below the bucket's base prefix.

        Raises:
            BucketNotFoundError: it does not exist, or not for the caller.
            ImportRunningError: one goes on already.
            PermissionDeniedError: the caller may see the bucket, and not import it.
        """
        self.buckets.bucket_for(caller, "POST", bucket_id)
        last = self.imports.last_job(bucket_id)
        running = None if last is None else self.jobs.find(last)
        if running is not None and not running.is_finished:
            raise ImportRunningError(bucket_id, running.job_id)
        job = self.jobs.new(
            IMPORT_BUCKET,
            IMPORT_BUCKET.job_id(bucket_id, self.new_id()),
            caller=caller,
            database_id=None,
            parameters={"bucketId": bucket_id},
        )
        entry = self.audit.entry(
            caller,
            "import_bucket",
            bucket_entity(bucket_id),
            before=None if last is None else {"lastImport": last},
            after={"lastImport": job.job_id},
            at=self.clock(),
        )
        self.imports.begin(bucket_id, job.job_id, last=last, others=[self.jobs.put(job), entry])
        return job


@wired
class ImportStep:
    """The step of a job of the kind `importBucket`.

    Its cursor holds the last key that was read (`after`), and the asset that was made last
    (`made`): the rest of its files are in the next pages, and are indexed already.
    """

    buckets: BucketService
    sync: BucketSync
    notes: SkipNotes
    objects: Objects
    reindexing: RebuildRequests

    def __call__(self, job: Job) -> Progress:
        """Follow the objects of one page.

        Raises:
            BucketNotFoundError: the bucket's record is gone.
            UnavailableError: something is down.
        """
        bucket = self.buckets.get_bucket(str(job.parameters["bucketId"]))
        page = self.objects.list_objects(
            bucket.bucket_name, bucket.key_prefix, limit=PAGE, after=job.cursor.get("after")
        )
        done = self.sync.follow(NamedObject(bucket.bucket_name, one.key) for one in page.objects)
        self._index(done, job.cursor.get("made"))
        self.notes.report(done.skips)
        last = done.made[-1] if done.made else None
        made = job.cursor.get("made") if last is None else [last.database_id, last.asset_id]
        return Progress(
            {"after": page.next_key, "made": made},
            items=len(page.objects),
            finished=page.next_key is None,
            problems=tuple(one for one in _problems(done) if one not in job.problems),
        )

    def _index(self, done: Followed, made: list[str] | None) -> None:
        for (database_id, asset_id), keys in done.owned.items():
            if [database_id, asset_id] != made:
                self.reindexing.keys(database_id, asset_id, keys)


def _problems(done: Followed) -> Iterator[str]:
    """The problems of a page, each reported once."""
    yield from dict.fromkeys(sentence(one) for one in done.skips if not one.is_expected)
    if done.later:
        first = done.later[0]
        yield (
            f"s3://{first.bucket}/{first.key} belongs to an asset that is being deleted or "
            "archived, or to a database that is being purged: import again once that has "
            "ended"
        )
