"""Rebuilds all files of an asset after a change of attributes that they inherit.

Each change has a job of its own (`domains/jobs`), whose steps each rebuild one page of the listing
of the asset's objects.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.core.errors import UnavailableError
from backend.core.file_kinds import is_file
from backend.core.identity import SYSTEM
from backend.core.objects import Objects
from backend.core.references import AssetRef, FileRef
from backend.core.tables import Tables
from backend.domains.buckets.service import BucketRegistry
from backend.domains.jobs.errors import JobExistsError
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service.commands import JobService
from backend.search.indexing.changes import FanOut
from backend.search.indexing.rebuild import Rebuilder, StoredVersionAheadError
from backend.search.indexing.references import Reference
from backend.search.indexing.sources import asset_rows, prefix_of
from backend.spec.jobs import FAN_OUT

# Files of one step, so that memory is bounded and a crash repeats at most this page (decision 11).
PAGE_VERSIONS = 500


@dataclass(eq=False, repr=False)
class FanOuts:
    """Starts fan-outs, one for each change."""

    tables: Tables
    jobs: JobService

    def start(self, fan_outs: Iterable[FanOut]) -> None:
        """Create a job for each of these; its row alone starts it."""
        for fan_out in sorted(fan_outs):
            job = self.jobs.new(
                FAN_OUT,
                job_id(fan_out),
                caller=SYSTEM,
                database_id=fan_out.database_id,
                asset_id=fan_out.asset_id,
                parameters={"inheritedRevision": fan_out.inherited_revision},
            )
            try:
                self.tables.write(self.jobs.put(job))
            except JobExistsError:
                continue  # the change was delivered before


@dataclass(eq=False, repr=False)
class FanOutStep:
    """The step of a fan-out: rebuild the files in one page of versions."""

    tables: Tables
    objects: Objects
    registry: BucketRegistry
    rebuilder: Rebuilder

    def __call__(self, job: Job) -> Progress:
        """Rebuild the page at the job's cursor.

        Raises:
            UnavailableError: a service is unavailable, or the ticket counter was reset and must be
                corrected; the page is rebuilt later.
        """
        asset = AssetRef(job.database_id or "", job.asset_id or "")
        row = asset_rows(self.tables, [asset]).get(asset)
        bucket_id = "" if row is None else str(row.get("bucketId"))
        bucket = self.registry.by_id([bucket_id]).get(bucket_id) if row else None
        prefix = "" if row is None else prefix_of(row)
        if bucket is None or not prefix:
            # the asset does not exist, or the location of its files is not known
            return Progress(finished=True)
        page = self.objects.list_versions(
            bucket.bucket_name,
            prefix,
            limit=PAGE_VERSIONS,
            after_key=job.cursor.get("afterKey"),
            after_version_id=job.cursor.get("afterVersionId"),
        )
        files: set[Reference] = {
            FileRef(asset.database_id, asset.asset_id, "/" + version.key.removeprefix(prefix))
            for version in page.versions
            if is_file(version.key)
        }
        try:
            # No settling: the inherited attributes are in the asset's row, which is read
            # consistently.
            self.rebuilder.rebuild(files, settles=())
        except StoredVersionAheadError as error:
            raise UnavailableError(error.message) from error
        cursor: dict[str, Any] = {}
        if page.next_key is not None:
            cursor = {"afterKey": page.next_key, "afterVersionId": page.next_version_id}
        return Progress(cursor, items=len(files), finished=page.next_key is None)


def job_id(fan_out: FanOut) -> str:
    """Return the id of a fan-out's job: one for each change of inherited attributes."""
    created = "".join(char for char in fan_out.created_at if char.isdecimal())
    made = (created,) if created else ()  # rows written by other products may lack it
    parts = (fan_out.database_id, fan_out.asset_id, *made, fan_out.inherited_revision)
    return FAN_OUT.job_id(*parts)
