"""The steps of jobs that archive, restore and delete assets."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from backend.core.delete_markers import Newest, markers_hiding, newest
from backend.core.objects import MAX_BATCH, Objects, ObjectVersion
from backend.core.paging import Page, Position
from backend.core.rebuild_requests import RebuildRequests
from backend.core.references import AssetRef
from backend.domains.asset_lifecycle import rules
from backend.domains.asset_lifecycle.errors import JobOvertakenError, NotRemovedError
from backend.domains.asset_lifecycle.models import (
    MAX_SWEEPS,
    MIN_SWEEPS,
    ArchiveCursor,
    ArchivedPage,
    DeleteCursor,
    DeletedAsset,
)
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.files.models import VersionOrigin
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.jobs.models import Job, Progress
from backend.spec.key_layouts import (
    auxiliary_folder,
    temporary_folder,
    uploaded_previews_folder,
    views_folder,
)
from backend.values import frozen

# Files of one step. They fit a request, and paths of a kilobyte fit one row.
FILES = 100
# Passes through the asset's files. The second includes files that were uploaded during the first.
MAX_PASSES = 10
_UNFINISHED = f"Files were added during all {MAX_PASSES} passes; the last ones are not archived"


RESTORES = "unarchiveFiles"
"""The parameter of jobs that restore an asset: whether its files follow. Absent: they do."""


@dataclass(eq=False, repr=False)
class ArchiveSteps:
    repository: LifecycleRepository
    assets: AssetService
    objects: Objects
    reindexing: RebuildRequests
    origins: OriginRecords
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
            # Walk through the listing again if this walk found files; the last walk finds none.
            if cursor.taken == 0:
                return _end_pass(cursor)
            if cursor.passes + 1 == MAX_PASSES:
                return _end_pass(cursor, _UNFINISHED)
            return _progress(ArchiveCursor(page=cursor.page, passes=cursor.passes + 1))
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
        self._hide(job, asset, keys)
        self._request_documents(asset, noted.paths)
        done = {
            "page": cursor.page + 1,
            "after": prefix + noted.paths[-1],
            "taken": cursor.taken + len(noted.paths),
        }
        return _progress(cursor.model_copy(update=done), items=len(noted.paths))

    def unarchive(self, job: Job) -> Progress:
        """Restore the next files that were archived with the asset, or only forget them.

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
        markers: list[Newest] = []
        if job.parameters.get(RESTORES, True):
            markers = markers_hiding(self.objects, bucket, prefix, keys)
        while markers:
            self._remove(asset, bucket, prefix, markers)
            removed, markers = markers, markers_hiding(self.objects, bucket, prefix, keys)
            if markers:  # of a request that was repeated, or the asset is archived again
                self._asset(job)
            left = frozenset(marker.version.ref for marker in markers)
            stays = left.intersection(marker.version.ref for marker in removed)
            if stays:
                raise NotRemovedError(bucket, *min(stays))
        self._request_documents(asset, page.paths)
        self.repository.delete_page(asset, page)
        return Progress(items=len(page.paths))

    def _hide(self, job: Job, asset: Asset, keys: Sequence[str]) -> None:
        """Add markers to files, and remove them if the asset was restored before.

        Raises:
            JobOvertakenError: the asset was deleted or restored.
        """
        bucket, prefix = self.assets.location(asset)
        hidden = [found.version for found in newest(self.objects, bucket, prefix, keys)]
        origin = VersionOrigin(change_source="assetArchive", change_user_id=job.created_by)
        self.origins.record_markers(asset.ref, prefix, hidden, origin)
        # Without a version id S3 puts a marker, and the content remains.
        self.objects.delete_many(bucket, [(key, None) for key in keys])
        try:
            self._asset(job)
        except JobOvertakenError:
            # This worker was delayed past its lease. One marker of each file is removed: a marker
            # of a user, or of another archiving, remains.
            self._remove(asset, bucket, prefix, markers_hiding(self.objects, bucket, prefix, keys))
            raise

    def _asset(self, job: Job) -> Asset:
        return check_asset(job, self.assets.find_asset(job.database_id or "", job.asset_id or ""))

    def _remove(self, asset: Asset, bucket: str, prefix: str, markers: Sequence[Newest]) -> None:
        self.objects.delete_many(bucket, [marker.version.ref for marker in markers])
        self.origins.delete_markers(asset.ref, prefix, markers)

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


def _end_pass(cursor: ArchiveCursor, *problems: str) -> Progress:
    """Return the end, until another pass is requested: its pages follow those recorded so far."""
    ended = ArchiveCursor(page=cursor.page).model_dump(by_alias=True, exclude_none=True)
    return Progress(ended, finished=True, problems=problems)


def _progress(cursor: ArchiveCursor, *, items: int = 0) -> Progress:
    return Progress(cursor.model_dump(by_alias=True, exclude_none=True), items=items)


# Links that one step deletes: each is a transaction with both ends.
LINKS = 25


@frozen
class _Target:
    """The asset that a deletion removes."""

    job_id: str
    database_id: str
    asset_id: str
    bucket_id: str
    bucket: str
    base: str
    prefix: str
    expires_at: int


@frozen
class _Removed:
    """The result of one page of a part; `more` means that the part has not ended."""

    items: int
    more: bool = False
    after: Position | None = None


_Part = Callable[[_Target, Position | None], _Removed]


@dataclass(eq=False, repr=False)
class DeleteSteps:
    """Deletes assets. `wait_seconds` is how long requests and table indexes may lag.

    `auxiliary` is the bucket of files that viewers and pipelines created, and of saved views.
    """

    repository: LifecycleRepository
    assets: AssetService
    links: AssetLinkService
    objects: Objects
    reindexing: RebuildRequests
    auxiliary: str
    wait_seconds: int
    versions: int = MAX_BATCH  # that one step deletes

    def delete(self, job: Job) -> Progress:
        """Remove the next page of the asset's remains; empty parts are skipped.

        Repeated after the end, when another asset may have the id, it has no effect.
        """
        asset_id = job.asset_id or ""
        if not self.assets.is_deleted_by(asset_id, job.job_id):
            return Progress(finished=True)
        cursor = DeleteCursor.model_validate(job.cursor)
        target = self._target(job)
        parts = self._parts(target)
        while cursor.part < len(parts):
            removed = parts[cursor.part](target, cursor.after)
            cursor = DeleteCursor(
                sweep=cursor.sweep,
                part=cursor.part if removed.more else cursor.part + 1,
                after=None if removed.after is None else dict(removed.after),
                found=cursor.found + removed.items,
            )
            if removed.items:
                return Progress(_dump_cursor(cursor), items=removed.items)
        return self._end_sweep(job, target, cursor)

    def _end_sweep(self, job: Job, target: _Target, cursor: DeleteCursor) -> Progress:
        """After a sweep, start another one, or end the deletion."""
        self.reindexing.assets([AssetRef(target.database_id, target.asset_id)])
        done = cursor.sweep + 1
        if done < MIN_SWEEPS or (cursor.found and done < MAX_SWEEPS):
            return Progress(_dump_cursor(DeleteCursor(sweep=done)), wait_seconds=self.wait_seconds)
        self.assets.release(
            AssetRef(database_id=target.database_id, asset_id=target.asset_id),
            job.job_id,
            bucket_id=target.bucket_id,
            prefix=target.prefix,
        )
        return Progress(finished=True)

    def _target(self, job: Job) -> _Target:
        deleted = DeletedAsset.model_validate(job.parameters)
        bucket = self.assets.get_bucket(deleted.bucket_id)
        return _Target(
            job_id=job.job_id,
            database_id=job.database_id or "",
            asset_id=job.asset_id or "",
            bucket_id=deleted.bucket_id,
            bucket=bucket.bucket_name,
            base=bucket.key_prefix,
            prefix=deleted.asset_location.key,
            expires_at=job.expires_at,
        )

    def _parts(self, target: _Target) -> tuple[_Part, ...]:
        """Return the parts of a sweep."""
        return (
            # Uploads come first, so that fewer of them end during the sweep.
            self._uploads,
            self._files,
            self._previews,
            self._auxiliary_objects,
            self._links,
            *(
                self._rows_of(traces)
                for traces in rules.traces_of(target.database_id, target.asset_id)
            ),
            self._subscription,
        )

    def _uploads(self, target: _Target, after: Position | None) -> _Removed:
        """Remove uploads with their rows, and other multipart uploads below the prefix."""
        page = self.repository.uploads_of(target.asset_id, after)
        if page.items:
            self._check_deleted(target)
        for upload_id in page.items:
            folder = temporary_folder(target.base, upload_id)
            self._abort_uploads(target.bucket, folder)
            left = _Removed(0, more=True)
            while left.more:
                left = self._empty_prefix(target, folder, left.after)
            self.repository.remove_upload(upload_id)
        if page.after is None:
            self._abort_uploads(target.bucket, target.prefix)
        return _page(page)

    def _files(self, target: _Target, after: Position | None) -> _Removed:
        """Remove versions of files, always the first ones left, and request their documents."""
        versions = self._first_versions(target.bucket, target.prefix)
        ids = (target.database_id, target.asset_id)
        # Requested first, because nothing names the documents once the files are deleted. They can
        # be removed before their files: the asset's row does not exist any more.
        self.reindexing.keys(*ids, sorted({version.key for version in versions}))
        return self._remove_first(target, target.prefix, versions, after)

    def _previews(self, target: _Target, after: Position | None) -> _Removed:
        folder = uploaded_previews_folder(target.base, target.asset_id)
        return self._empty_prefix(target, folder, after)

    def _auxiliary_objects(
        self,
        target: _Target,
        after: Position | None,  # noqa: ARG002 - a `_Part`
    ) -> _Removed:
        """Remove files that viewers and pipelines created, and saved views.

        That bucket has no versions.
        """
        folder = auxiliary_folder(target.asset_id)
        objects = self.objects.list_objects(self.auxiliary, folder, limit=self.versions).objects
        if not objects:
            folder = views_folder(target.asset_id)
            objects = self.objects.list_objects(self.auxiliary, folder, limit=self.versions).objects
        self._check_deleted(target)
        self.objects.delete_many(self.auxiliary, [(item.key, None) for item in objects])
        return _Removed(len(objects), more=len(objects) > 0)

    def _links(self, target: _Target, after: Position | None) -> _Removed:  # noqa: ARG002
        """Remove links with their metadata, and update the other ends.

        Always the first remaining ones.
        """
        ids = (target.database_id, target.asset_id)
        self._check_deleted(target)
        removed = self.links.remove_links(*ids, limit=LINKS)
        return _Removed(removed, more=removed > 0)

    def _rows_of(self, traces: rules.Traces) -> _Part:
        def remove(target: _Target, after: Position | None) -> _Removed:
            still = partial(self._check_deleted, target)
            return _page(self.repository.remove_traces(traces, after, still))

        return remove

    def _subscription(self, target: _Target, after: Position | None) -> _Removed:  # noqa: ARG002
        self._check_deleted(target)
        self.repository.remove_subscription(target.asset_id)
        self.repository.remove_changes(target.asset_id)
        # Jobs that create versions started before this one, so they expire before the counter does.
        ids = (target.database_id, target.asset_id)
        self.repository.expire_numbers(*ids, target.expires_at)
        return _Removed(0)

    def _first_versions(self, bucket: str, prefix: str) -> Sequence[ObjectVersion]:
        """Return the first versions and markers below a prefix."""
        return self.objects.list_versions(bucket, prefix, limit=self.versions).versions

    def _empty_prefix(self, target: _Target, prefix: str, after: Position | None) -> _Removed:
        """Remove a page below a prefix, after the page that `after` records."""
        versions = self._first_versions(target.bucket, prefix)
        return self._remove_first(target, prefix, versions, after)

    def _remove_first(
        self,
        target: _Target,
        prefix: str,
        versions: Sequence[ObjectVersion],
        after: Position | None,
    ) -> _Removed:
        """Remove the first objects below a prefix; if there were some, there may be more.

        Raises:
            JobOvertakenError: another worker has ended the deletion.
            NotRemovedError: the first of them still exists after it was removed twice.
        """
        if not versions:
            return _Removed(0)
        self._check_deleted(target)
        bucket, first = target.bucket, versions[0]
        self.objects.delete_many(
            bucket, [(version.key, version.version_id) for version in versions]
        )
        noted = {"key": first.key, "version": first.version_id}
        if noted == after and first in self._first_versions(bucket, prefix):
            raise NotRemovedError(bucket, first.key, first.version_id)
        return _Removed(len(versions), more=True, after=noted)

    def _check_deleted(self, target: _Target) -> None:
        """Require that the rows belong to the deleted asset."""
        # A worker may be delayed past its lease, and another asset may have the id meanwhile.
        if not self.assets.is_deleted_by(target.asset_id, target.job_id):
            raise JobOvertakenError(target.asset_id)

    def _abort_uploads(self, bucket: str, prefix: str) -> None:
        while uploads := self.objects.list_multiparts(bucket, prefix):
            for upload in uploads:
                self.objects.abort_multipart(bucket, upload.key, upload.upload_id)


def _page(page: Page[Any]) -> _Removed:
    return _Removed(len(page.items), page.after is not None, page.after)


def _dump_cursor(cursor: DeleteCursor) -> dict[str, Any]:
    return cursor.model_dump(by_alias=True, exclude_none=True)
