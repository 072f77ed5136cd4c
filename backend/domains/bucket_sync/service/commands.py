"""Starts imports of buckets, one at a time for each bucket."""

from dataclasses import dataclass

from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.bucket_sync.errors import ImportRunningError
from backend.domains.bucket_sync.repository import ImportRepository
from backend.domains.buckets.service import BucketService
from backend.domains.jobs.models import Job
from backend.domains.jobs.service.commands import JobService
from backend.spec.jobs import IMPORT_BUCKET


@dataclass(eq=False, repr=False)
class BucketImports:
    imports: ImportRepository
    buckets: BucketService
    jobs: JobService
    audit: AuditService
    new_id: NewId = new_uuid

    def import_bucket(self, caller: Identity, bucket_id: str) -> Job:
        """Start an import of the objects below the bucket's base prefix.

        Raises:
            BucketNotFoundError: it does not exist, or the caller may not see it.
            ImportRunningError: one is already running.
            PermissionDeniedError: the caller may see the bucket, but not import it.
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
            audit_entity("bucket", bucket_id),
            before=None if last is None else {"lastImport": last},
            after={"lastImport": job.job_id},
        )
        self.imports.begin(bucket_id, job.job_id, last=last, others=[self.jobs.put(job), entry])
        return job
