"""Uploads from their first request to their last."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from backend.core.clock import Clock, epoch_seconds, iso
from backend.core.errors import (
    InvalidInputError,
    NotFoundError,
    RateLimitedError,
    StateForbidsError,
    UnavailableError,
)
from backend.core.file_kinds import UNKNOWN_TYPE, is_preview
from backend.core.identity import Identity
from backend.core.ids import NewId, new_upload_id
from backend.core.objects import Objects
from backend.core.parallel import in_parallel
from backend.domains.assets.models import Asset
from backend.domains.assets.service import AssetService
from backend.domains.databases.service import DatabaseService
from backend.domains.files.service import FileService
from backend.domains.uploads import rules
from backend.domains.uploads.models import (
    ZERO_BYTE,
    CompleteBody,
    InitialiseBody,
    InitialiseReply,
    NewFile,
    PartUrl,
    SentFile,
    StartedFile,
    Upload,
    UploadFile,
    UploadType,
)
from backend.domains.uploads.repository import (
    MAX_RESULT_CHARS,
    UploadNotFoundError,
    UploadRepository,
)
from backend.domains.uploads.service.completing import Completion, Outcome
from backend.domains.uploads.service.results import Completed, completed, is_open

UPLOAD_DAYS = 7
LEASE = timedelta(seconds=35)
"""Longer than a request may run (29 s): whoever holds a lease that ended is dead."""
WORK_TIME = timedelta(seconds=20)
"""A request begins no further file after this; the next request goes on."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """A stage's settings."""

    per_minute: int
    url_seconds: int


@dataclass(slots=True)
class _Run:
    """The work of one request: until when it begins files, and why it stopped."""

    stop_at: datetime
    outage: UnavailableError | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])


@dataclass(frozen=True, slots=True)
class UploadService:
    uploads: UploadRepository
    assets: AssetService
    databases: DatabaseService
    files: FileService
    objects: Objects
    limits: UploadLimits
    clock: Clock
    new_id: NewId = new_upload_id

    def initialise_upload(self, caller: Identity, body: InitialiseBody) -> InitialiseReply:
        """Start an upload of files into an asset, with URLs for all their parts.

        S3 requests: one a file that is not empty.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            InvalidInputError: naming each file that may not be uploaded.
            PermissionDeniedError: the caller may not write the asset.
            RateLimitedError: the caller has started too many uploads in this minute.
            TooLargeError: the URLs would not fit a reply.
        """
        asset = self.assets.asset_for(caller, "POST", body.database_id, body.asset_id)
        self._limit_rate(caller)
        bucket, layout = self._place(asset, self.new_id(), body.upload_type)
        rules.check_new_files(body.files, layout, self._allowed(asset))
        plan = rules.plan_parts(body.files)
        rules.check_reply_size(plan, self._sample_url(bucket, layout))
        with ExitStack() as undo:
            files = self._start_all(bucket, layout, body.files, plan, undo)
            self.uploads.put_new(self._new(caller, body, layout, files))
            undo.pop_all()
        started = [
            self._started(bucket, layout, sent.relative_key, file)
            for sent, file in zip(body.files, files, strict=True)
        ]
        return InitialiseReply(
            upload_id=layout.upload_id,
            files=started,
            message=f"Upload {layout.upload_id} of {len(started)} files was started",
        )

    def complete_upload(self, caller: Identity, upload_id: str, body: CompleteBody) -> Completed:
        """Make files of stored parts; of each file it is said what became of it.

        May be repeated: settled files keep their result, the others are tried again.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            InvalidInputError: the upload is of another type, or a list of parts cannot be right.
            PermissionDeniedError: the caller may not write the asset.
            UnavailableError: S3 does not answer or time was up; the same request goes on.
            UploadBusyError: another request works on this upload.
            UploadNotFoundError: the caller has no such upload to this asset.
        """
        upload = self._own(caller, upload_id, body)
        asset = self.assets.asset_for(caller, "POST", upload.database_id, upload.asset_id)
        if upload.upload_type != body.upload_type:
            raise InvalidInputError.of("uploadType", f"is {upload.upload_type} for this upload")
        known = {file.path: file for file in upload.files}
        rules.check_part_lists(body.files, known)
        if any(is_open(upload, known, file) for file in body.files):
            upload = self._lease(upload)
            upload, asset, unsettled = self._work(upload, asset, body.files, known)
        else:
            unsettled = {}
        return completed(upload, asset.asset_type, body.files, known, unsettled)

    def abort_upload(self, caller: Identity, upload_id: str) -> None:
        """Give an upload up: what S3 holds of its open files is removed, and its row.

        Raises:
            PermissionDeniedError: the caller may not write the asset.
            StateForbidsError: it is completed.
            UploadBusyError: another request works on it.
            UploadNotFoundError: there is no such upload, or its asset is not for the caller.
        """
        upload = self._find(upload_id)
        try:
            asset = self.assets.asset_for(caller, "POST", upload.database_id, upload.asset_id)
        except NotFoundError:
            raise UploadNotFoundError(upload_id) from None
        if upload.status == "completed":
            raise StateForbidsError(f"Upload {upload_id} is completed")
        upload = self._lease(upload)
        completion = self._completion(upload, asset)
        unsettled = [file for file in upload.files if file.path not in upload.results]
        in_parallel(completion.discard, unsettled)
        self.uploads.delete(upload)

    def _find(self, upload_id: str) -> Upload:
        found = self.uploads.get(upload_id)
        if found is None or found.expires_at <= epoch_seconds(self.clock()):
            raise UploadNotFoundError(upload_id)
        return found

    def _own(self, caller: Identity, upload_id: str, body: CompleteBody) -> Upload:
        found = self._find(upload_id)
        asked = caller.user_id, body.database_id, body.asset_id
        if (found.user_id, found.database_id, found.asset_id) != asked:
            raise UploadNotFoundError(upload_id)
        return found

    def _lease(self, upload: Upload) -> Upload:
        now = self.clock()
        return self.uploads.lease(upload, now=_milliseconds(now), until=_milliseconds(now + LEASE))

    def _limit_rate(self, caller: Identity) -> None:
        now = epoch_seconds(self.clock())
        count = self.uploads.count_initialisation(caller.user_id, minute=now // 60)
        if count > self.limits.per_minute:
            raise RateLimitedError(
                f"More than {self.limits.per_minute} uploads were started in this minute",
                retry_after=60 - now % 60,
            )

    def _place(
        self, asset: Asset, upload_id: str, upload_type: UploadType
    ) -> tuple[str, rules.Layout]:
        bucket = self.assets.buckets.get_bucket(asset.bucket_id)
        layout = rules.Layout(
            base=bucket.key_prefix,
            prefix=asset.asset_location.key,
            database_id=asset.database_id,
            asset_id=asset.asset_id,
            upload_id=upload_id,
            upload_type=upload_type,
        )
        return bucket.bucket_name, layout

    def _allowed(self, asset: Asset) -> str:
        database = self.databases.find_database(asset.database_id)
        if database is None:
            raise NotFoundError(f"Database {asset.database_id} does not exist")
        return database.restrict_file_uploads_to_extensions

    def _sample_url(self, bucket: str, layout: rules.Layout) -> str:
        """A URL of a part, as long as they are at the most."""
        return self._url(bucket, layout.temporary_key("/"), "u" * 160, rules.MAX_URLS)

    def _url(self, bucket: str, key: str, upload_id_s3: str, number: int) -> str:
        return self.objects.presign_part(
            bucket, key, upload_id=upload_id_s3, number=number, expires=self.limits.url_seconds
        )

    def _start_all(
        self,
        bucket: str,
        layout: rules.Layout,
        files: Sequence[NewFile],
        plan: Sequence[int],
        undo: ExitStack,
    ) -> list[UploadFile]:
        """Create a multipart upload for each file; `undo` takes back those that were created."""
        created: list[tuple[str, str]] = []

        def take_back() -> None:
            in_parallel(lambda one: self.objects.abort_multipart(bucket, *one), created)

        def start(one: tuple[NewFile, int]) -> UploadFile:
            file, parts = one
            upload_id_s3 = ZERO_BYTE
            if not file.is_empty:
                key = layout.temporary_key(file.path)
                upload_id_s3 = self.objects.create_multipart(
                    bucket, key, content_type=UNKNOWN_TYPE, metadata={}
                )
                created.append((key, upload_id_s3))
            return UploadFile(
                path=file.path,
                upload_id_s3=upload_id_s3,
                num_parts=parts,
                size=file.file_size,
                checksum_sha256=file.checksum_sha256,
            )

        undo.callback(take_back)
        return in_parallel(start, list(zip(files, plan, strict=True)))

    def _new(
        self,
        caller: Identity,
        body: InitialiseBody,
        layout: rules.Layout,
        files: list[UploadFile],
    ) -> Upload:
        now = self.clock()
        return Upload(
            upload_id=layout.upload_id,
            asset_id=body.asset_id,
            database_id=body.database_id,
            user_id=caller.user_id,
            upload_type=body.upload_type,
            created_at=iso(now),
            expires_at=epoch_seconds(now + timedelta(days=UPLOAD_DAYS)),
            files=files,
        )

    def _started(
        self, bucket: str, layout: rules.Layout, relative_key: str, file: UploadFile
    ) -> StartedFile:
        key = layout.temporary_key(file.path)
        urls = [
            PartUrl(part_number=n, upload_url=self._url(bucket, key, file.upload_id_s3, n))
            for n in range(1, file.num_parts + 1)
        ]
        return StartedFile(
            relative_key=relative_key,
            upload_id_s3=file.upload_id_s3,
            num_parts=file.num_parts,
            part_upload_urls=urls,
        )

    def _completion(self, upload: Upload, asset: Asset) -> Completion:
        bucket, layout = self._place(asset, upload.upload_id, upload.upload_type)
        return Completion(
            objects=self.objects,
            bucket=bucket,
            layout=layout,
            upload=upload,
            allowed=self._allowed(asset),
            verified=rules.files_to_verify(upload.files),
        )

    def _work(
        self,
        upload: Upload,
        asset: Asset,
        sent: Sequence[SentFile],
        known: Mapping[str, UploadFile],
    ) -> tuple[Upload, Asset, dict[str, Outcome]]:
        """Settle files of a leased upload and give it back.

        Answers with the upload and asset as they are now, and with what is not settled.
        """
        run = _Run(self.clock() + WORK_TIME)
        completion = self._completion(upload, asset)
        open_files = [file for file in sent if is_open(upload, known, file)]
        self._settle_all(run, completion, open_files, known)
        settled = {
            path: (one.error or "")[:MAX_RESULT_CHARS]
            for path, one in run.outcomes.items()
            if one.settled
        }
        results = {**upload.results, **settled}
        if run.outage is None and "" in results.values():
            try:
                asset = self._follow_files(asset, completion, settled)
            except UnavailableError as error:
                run.outage = error
                results = upload.results  # so that the next request follows the files again
        status = "completed" if len(results) == len(upload.files) else "initialised"
        self.uploads.release(upload, results=results, status=status)
        if run.outage is not None:
            raise run.outage
        if len(run.outcomes) < len(open_files):
            raise UnavailableError(
                f"{len(run.outcomes)} of {len(open_files)} files were worked on in the time of one "
                "request: send the same request again"
            )
        unsettled = {path: one for path, one in run.outcomes.items() if not one.settled}
        now = upload.model_copy(update={"results": results, "status": status})
        return now, asset, unsettled

    def _settle_all(
        self,
        run: _Run,
        completion: Completion,
        files: Sequence[SentFile],
        known: Mapping[str, UploadFile],
    ) -> None:
        """Settle files, previews last, until all are, time is up or S3 does not answer."""

        def settle(file: SentFile) -> None:
            if run.outage is not None or self.clock() >= run.stop_at:
                return
            try:
                outcome = completion.settle(known[file.path], file.parts)
            except UnavailableError as error:
                run.outage = error
            else:
                run.outcomes[file.path] = outcome

        in_parallel(settle, [file for file in files if not is_preview(file.path)])
        in_parallel(settle, [file for file in files if is_preview(file.path)])

    def _follow_files(
        self, asset: Asset, completion: Completion, settled: Mapping[str, str]
    ) -> Asset:
        """Write to the asset what follows from its files.

        Uploads end at the same time: the type is looked up again after it was written, until it
        stays, so the last one to write has seen the files of all.
        """
        if completion.layout.upload_type == "assetPreview":
            keys = [
                completion.layout.final_key(path) for path, error in settled.items() if not error
            ]
            return self.assets.set_content(asset, preview_key=keys[0]) if keys else asset
        while (asset_type := self.files.asset_type(asset)) != asset.asset_type:
            asset = self.assets.set_content(asset, asset_type=asset_type)
        return asset


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)
