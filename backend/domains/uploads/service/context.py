"""Finds uploads for their callers, and the places and URLs of their files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.clock import Clock, epoch_seconds
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.objects import Objects
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.service import DatabaseService
from backend.domains.jobs.service.commands import JobService
from backend.domains.uploads import rules
from backend.domains.uploads.errors import UploadExpiredError, UploadNotFoundError
from backend.domains.uploads.models import MAX_URLS, PartUrl, Upload, UploadFile, UploadType
from backend.domains.uploads.repository import UploadRepository
from backend.domains.uploads.service.completion import Completion, OtherUploads


@dataclass(eq=False, repr=False)
class Uploaders:
    uploads: UploadRepository

    def uploader(self, upload_id: str) -> Identity | None:
        """Return who started an upload; None once its rows have expired."""
        upload = self.uploads.get(upload_id)
        # Second factors are not stored, so the identity has none.
        return None if upload is None else Identity(upload.user_id)


@dataclass(eq=False, repr=False)
class PartUrls:
    """URLs for the files of one upload; each is valid for `seconds`."""

    objects: Objects
    bucket: str
    layout: rules.Layout
    seconds: int

    def check_number(self, urls: int) -> None:
        """Reject more URLs than a reply may contain.

        Raises:
            TooLargeError: the message names both sizes.
        """
        # As long as possible.
        sample = self._url(self.layout.temporary_key("/"), "u" * 160, MAX_URLS)
        rules.check_reply_size(urls, sample)

    def of(self, file: UploadFile, numbers: Iterable[int]) -> list[PartUrl]:
        """Return a URL for each of these parts of a file."""
        key = self.layout.temporary_key(file.path)
        return [
            PartUrl(
                part_number=number,
                upload_url=self.objects.presign_put(self.bucket, key, expires=self.seconds)
                if file.is_single  # its only part is the object
                else self._url(key, file.upload_id_s3, number),
            )
            for number in numbers
        ]

    def _url(self, key: str, upload_id_s3: str, number: int) -> str:
        return self.objects.presign_part(
            self.bucket, key, upload_id=upload_id_s3, number=number, expires=self.seconds
        )


# A request may run for 29 seconds: the holder of an expired lease has ended.
LEASE = timedelta(seconds=35)


@dataclass(eq=False, repr=False)
class UploadContext:
    uploads: UploadRepository
    assets: AssetService
    databases: DatabaseService
    jobs: JobService
    objects: Objects
    audit: AuditService
    large_bytes: int
    clock: Clock

    def find(self, upload_id: str, caller: Identity | None = None) -> Upload:
        """Return the upload with the state of its jobs; with a caller, only the caller's own.

        Raises:
            UploadExpiredError: it has expired.
            UploadNotFoundError: it does not exist.
        """
        upload = self.uploads.get(upload_id)
        if upload is None or (caller is not None and upload.user_id != caller.user_id):
            raise UploadNotFoundError(upload_id)
        if upload.expires_at <= epoch_seconds(self.clock()):
            raise UploadExpiredError(upload_id)
        return self.with_stalled(upload)

    def asset_of(self, caller: Identity, upload: Upload) -> Asset:
        """Return the asset of an upload, for a caller who may write it.

        Raises:
            PermissionDeniedError: the caller may not write the asset.
            UploadNotFoundError: the asset does not exist, or the caller may not see it.
        """
        try:
            return self.assets.asset_for(caller, "POST", upload.database_id, upload.asset_id)
        except NotFoundError:
            raise UploadNotFoundError(upload.upload_id) from None

    def active_asset(self, upload: Upload) -> Asset | None:
        """Return the asset of an upload; None if it is not active. No permission is checked."""
        return self.assets.find_active(upload.database_id, upload.asset_id)

    def may_see(self, caller: Identity, database_id: str, asset_id: str) -> bool:
        """Return whether the asset of an upload exists, and the caller may see it."""
        try:
            self.assets.get_asset(caller, database_id, asset_id)
        except NotFoundError:
            return False
        return True

    def lease(self, upload: Upload) -> Upload:
        """Lease the upload, for one request or worker.

        Raises:
            UploadBusyError: another one has the lease.
        """
        now = self.clock()
        leased = self.uploads.lease(
            upload, now=_milliseconds(now), until=_milliseconds(now + LEASE)
        )
        ended = {job.job_id: job.stalled for job in upload.handed.values() if job.stalled}
        return _mark_stalled(leased, ended)

    def place(
        self, asset: Asset, upload_id: str, upload_type: UploadType
    ) -> tuple[str, rules.Layout]:
        """Return the bucket's name, and the layout of the upload's files in it."""
        bucket = self.assets.get_bucket(asset.bucket_id)
        layout = rules.Layout(
            base=bucket.key_prefix,
            prefix=asset.asset_location.key,
            database_id=asset.database_id,
            asset_id=asset.asset_id,
            upload_id=upload_id,
            upload_type=upload_type,
        )
        return bucket.bucket_name, layout

    def allowed_extensions(self, asset: Asset) -> str:
        """Return the extensions that the asset's database allows."""
        database = self.databases.find_database(asset.database_id)
        if database is None:
            raise NotFoundError(f"Database {asset.database_id} does not exist")
        return database.restrict_file_uploads_to_extensions

    def completion(self, upload: Upload, asset: Asset) -> Completion:
        """Return the service that completes the files of an upload."""
        bucket, layout = self.place(asset, upload.upload_id, upload.upload_type)
        return Completion(
            objects=self.objects,
            bucket=bucket,
            layout=layout,
            upload=upload,
            allowed=self.allowed_extensions(asset),
            verified=rules.files_to_verify(upload.files),
            large_bytes=self.large_bytes,
            elsewhere=OtherUploads(self.uploads, upload, self.clock),
        )

    def with_stalled(self, upload: Upload) -> Upload:
        """Return the upload, with reasons for large files whose job ended without success.

        The row is read again after the jobs: a job that succeeded has settled its files before.
        """
        ended: dict[str, str] = {}  # jobs that will not continue, each with the reason
        for job_id in {job.job_id for job in upload.handed.values()}:
            job = self.jobs.find(job_id)
            if job is None:
                ended[job_id] = f"the job {job_id} no longer exists"
            elif job.is_finished:
                last = job.problems[-1] if job.problems else f"it is {job.state}"
                ended[job_id] = f"the job {job_id} ended: {last}"
        if not ended:
            return upload
        now = self.uploads.get(upload.upload_id)
        if now is None:
            raise UploadNotFoundError(upload.upload_id)
        return _mark_stalled(now, ended)


def _mark_stalled(upload: Upload, ended: Mapping[str, str]) -> Upload:
    """Return the upload, with the reason for each file whose job ended without completing it."""
    handed = {
        path: job.model_copy(update={"stalled": ended.get(job.job_id)})
        for path, job in upload.handed.items()
    }
    return upload.model_copy(update={"handed": handed})


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)
