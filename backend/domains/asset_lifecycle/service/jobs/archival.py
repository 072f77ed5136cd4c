"""The steps that archive and restore an asset: they add delete markers to files, or remove them.

No object is copied, so the S3 version ids in asset versions remain valid. The files of an archiving
are recorded first and hidden then; a worker that dies in between leaves a record of files that are
not hidden, which does no harm. Files that the user had archived before are never recorded. Markers
of folders (keys that end in `/`) remain: they have no content, and some stores keep no versions of
them.

A process that read the asset while it was active may write an object after the last pass. The
object's event then makes the bucket sync request another pass.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.core.delete_markers import markers_hiding
from backend.core.objects import Objects, VersionRef
from backend.core.rebuild_requests import RebuildRequests
from backend.domains.asset_lifecycle import rules
from backend.domains.asset_lifecycle.errors import JobOvertakenError, NotRemovedError
from backend.domains.asset_lifecycle.models import ArchiveCursor, ArchivedPage
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.jobs.models import Job, Progress

# Files of one step. They fit a request, and paths of a kilobyte fit one row.
FILES = 100
# Passes through the asset's files. The second includes files that were uploaded during the first.
MAX_PASSES = 10


@dataclass(eq=False, repr=False)
class ArchiveSteps:
    repository: LifecycleRepository
    assets: AssetService
    objects: Objects
    reindexing: RebuildRequests
    files: int = FILES

    def archive(self, job: Job) -> Progress:
        """Hide the next files of an archived asset.

        Raises:
            JobOvertakenError: the asset was deleted or restored.
        """
        asset = self._asset(job)
        bucket, prefix = self.assets.location(asset)
        cursor = ArchiveCursor.model_validate(job.cursor)
        listed = self.objects.list_objects(bucket, prefix, limit=self.files, after=cursor.after)
        if not listed.objects:
            return _next_pass(cursor)
        keys = [item.key for item in listed.objects if not item.key.endswith("/")]
        if not keys:
            return _progress(cursor.model_copy(update={"after": listed.objects[-1].key}))
        page = ArchivedPage(
            page=rules.page_key(int(job.parameters["revision"]), cursor.page),
            paths=[key.removeprefix(prefix) for key in keys],
        )
        noted, is_new = self.repository.store_page(asset, page)
        # A repeated step finds its page, and continues with what it noted.
        if not is_new:  # some may be hidden already, and need no second marker
            keys = sorted({prefix + path for path in noted.paths} & set(keys))
        self._hide(job, bucket, prefix, keys)
        self._request_documents(asset, noted.paths)
        done = {
            "page": cursor.page + 1,
            "after": prefix + noted.paths[-1],
            "taken": cursor.taken + len(noted.paths),
        }
        return _progress(cursor.model_copy(update=done), items=len(noted.paths))

    def unarchive(self, job: Job) -> Progress:
        """Restore the next files that were archived with the asset.

        Raises:
            JobOvertakenError: the asset was deleted, or archived again.
            NotRemovedError: the store still lists markers that it has removed.
        """
        asset = self._asset(job)
        page = self.repository.first_page(asset)
        if page is None:
            return Progress(finished=True)
        bucket, prefix = self.assets.location(asset)
        keys = [prefix + path for path in page.paths]
        markers = self._hiding_markers(bucket, prefix, keys)
        while markers:
            self.objects.delete_many(bucket, markers)
            removed, markers = markers, self._hiding_markers(bucket, prefix, keys)
            if markers:  # of a request that was repeated, or the asset is archived again
                self._asset(job)
            stays = frozenset(removed).intersection(markers)
            if stays:
                raise NotRemovedError(bucket, *min(stays))
        self._request_documents(asset, page.paths)
        self.repository.delete_page(asset, page)
        return Progress(items=len(page.paths))

    def _hide(self, job: Job, bucket: str, prefix: str, keys: Sequence[str]) -> None:
        """Add markers to files, and remove them if the asset was restored before.

        Raises:
            JobOvertakenError: the asset was deleted or restored.
        """
        # Without a version id S3 puts a marker, and the content remains.
        self.objects.delete_many(bucket, [(key, None) for key in keys])
        try:
            self._asset(job)
        except JobOvertakenError:
            # This worker was delayed past its lease. One marker of each file is removed: a marker
            # of a user, or of another archiving, remains.
            self.objects.delete_many(bucket, self._hiding_markers(bucket, prefix, keys))
            raise

    def _asset(self, job: Job) -> Asset:
        return check_asset(job, self.assets.find_asset(job.database_id or "", job.asset_id or ""))

    def _hiding_markers(self, bucket: str, prefix: str, keys: Sequence[str]) -> list[VersionRef]:
        """Return the markers that hide these keys, which are in S3's order."""
        return [marker.version.ref for marker in markers_hiding(self.objects, bucket, prefix, keys)]

    def _request_documents(self, asset: Asset, paths: Iterable[str]) -> None:
        """Request the documents."""
        # Object events request them too, but an event may be lost.
        ids = (asset.database_id, asset.asset_id)
        self.reindexing.files(*ids, [f"/{path}" for path in paths])


def check_asset(job: Job, asset: Asset | None) -> Asset:
    """Return the asset, if it is still in the state that the job requires.

    Raises:
        JobOvertakenError: it was deleted, or its state was changed again: the row names another
            job.
    """
    if asset is None or asset.lifecycle_job_id != job.job_id:
        raise JobOvertakenError(job.asset_id or "")
    return asset


def _next_pass(cursor: ArchiveCursor) -> Progress:
    """Walk through the listing again if this walk found files; the last walk finds none."""
    if cursor.taken == 0:
        return _end_pass(cursor)
    if cursor.passes + 1 == MAX_PASSES:
        problem = f"Files were added during all {MAX_PASSES} passes; the last ones are not archived"
        return _end_pass(cursor, problem)
    return _progress(ArchiveCursor(page=cursor.page, passes=cursor.passes + 1))


def _end_pass(cursor: ArchiveCursor, *problems: str) -> Progress:
    """Return the end, until another pass is requested: its pages follow those recorded so far."""
    ended = ArchiveCursor(page=cursor.page).model_dump(by_alias=True, exclude_none=True)
    return Progress(ended, finished=True, problems=problems)


def _progress(cursor: ArchiveCursor, *, items: int = 0) -> Progress:
    return Progress(cursor.model_dump(by_alias=True, exclude_none=True), items=items)
