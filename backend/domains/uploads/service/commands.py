"""Operations on uploads: initialise, get, complete, abort."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from backend.core.clock import epoch_seconds, iso
from backend.core.errors import InvalidInputError, RateLimitedError, StateForbidsError
from backend.core.file_kinds import UNKNOWN_TYPE
from backend.core.identity import Identity
from backend.core.ids import NewId, new_upload_id
from backend.core.objects import OpenUpload
from backend.core.paging import Page, PageRequest, fill
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.domains.assets.models import Asset
from backend.domains.audit.models import audit_entity
from backend.domains.uploads import rules
from backend.domains.uploads.errors import (
    FilesBeingFinishedError,
    UploadCompletedError,
    UploadNotFoundError,
)
from backend.domains.uploads.models import (
    MAX_URLS,
    ZERO_BYTE,
    CompleteBody,
    InitialiseBody,
    InitialiseReply,
    NewFile,
    StartedUploadFile,
    Upload,
    UploadFile,
    UploadReply,
    single_id,
)
from backend.domains.uploads.service.context import PartUrls, UploadContext
from backend.domains.uploads.service.settlement import (
    UPLOAD_DAYS,
    Completed,
    Settlement,
    completed_reply,
    describe_upload,
    is_open,
)
from backend.values import frozen


@frozen
class UploadLimits:
    """A stage's settings."""

    per_minute: int
    url_seconds: int


class PreparedUpload(NamedTuple):
    """An upload that may be started: its files, their keys, their numbers of parts, their URLs."""

    body: InitialiseBody
    bucket: str
    layout: rules.Layout
    plan: list[int]
    urls: PartUrls
    room: int


@dataclass(eq=False, repr=False)
class UploadService:
    context: UploadContext
    settlement: Settlement
    limits: UploadLimits
    new_id: NewId = new_upload_id

    def initialise_upload(self, caller: Identity, body: InitialiseBody) -> InitialiseReply:
        """Start an upload of files into an asset, and return URLs for their parts.

        S3 requests: one for each file of several parts, or of 5 MiB and more.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            InvalidInputError: the message names each file that may not be uploaded.
            PermissionDeniedError: the caller may not write the asset.
            RateLimitedError: the caller has started too many uploads in this minute.
            TooLargeError: the URLs would not fit a reply.
        """
        asset = self.context.assets.asset_for(caller, "POST", body.database_id, body.asset_id)
        return self.start_prepared(caller, self.prepare(caller, asset, body))

    def prepare(self, caller: Identity, asset: Asset, body: InitialiseBody) -> PreparedUpload:
        """Prepare an upload into this asset; only the caller's rate is counted.

        No permission is checked: for slices that create the asset first.

        Raises:
            InvalidInputError: the message names each file that may not be uploaded.
            RateLimitedError: the caller has started too many uploads in this minute.
            TooLargeError: the URLs would not fit a reply.
        """
        context = self.context
        # First: also requests that are refused count, because checking them costs as much.
        self._limit_rate(caller)
        bucket, layout = context.place(asset, self.new_id(), body.upload_type)
        rules.check_new_files(body.files, layout, context.allowed_extensions(asset))
        plan = rules.plan_parts(body.files, renews=body.max_part_urls is not None)
        urls = PartUrls(context.objects, bucket, layout, self.limits.url_seconds)
        room = MAX_URLS if body.max_part_urls is None else body.max_part_urls
        urls.check_number(min(sum(plan), room))
        return PreparedUpload(body, bucket, layout, plan, urls, room)

    def start_prepared(self, caller: Identity, prepared: PreparedUpload) -> InitialiseReply:
        """Start an upload that was prepared for this caller."""
        body, bucket, layout, plan, urls, room = prepared
        with ExitStack() as undo:
            files = self._start_all(bucket, layout, body.files, plan, undo)
            self.context.uploads.put_new(self._new(caller, body, layout, files))
            # From here on the row names them, and expires.
            undo.pop_all()
        started: list[StartedUploadFile] = []
        for sent, file in zip(body.files, files, strict=True):
            number = min(file.num_parts, room)  # within the limit of the reply
            room -= number
            started.append(
                StartedUploadFile(
                    relative_key=sent.relative_key,
                    upload_id_s3=file.upload_id_s3,
                    num_parts=file.num_parts,
                    part_upload_urls=urls.of(file, range(1, number + 1)),
                )
            )
        return InitialiseReply(
            upload_id=layout.upload_id,
            files=started,
            message=f"Upload {layout.upload_id} of {len(started)} files was started",
        )

    def list_uploads(self, caller: Identity, page: PageRequest) -> Page[Upload]:
        """List the caller's uploads that have not expired, newest first.

        Those to assets that do not exist, or that the caller may not see, are left out.
        """
        context = self.context
        now = epoch_seconds(context.clock())
        seen: dict[AssetRef, bool] = {}

        def visible(upload: Upload) -> bool:
            ref = AssetRef(upload.database_id, upload.asset_id)
            if ref not in seen:
                seen[ref] = context.may_see(caller, *ref.ids)
            return upload.expires_at > now and seen[ref]

        uploads = fill(
            lambda request: context.uploads.list_of_user(caller.user_id, request),
            page,
            visible=visible,
            position_of=context.uploads.position_of,
            size_of=lambda _: 0,  # a reply has their numbers, not their files
        )
        return uploads.map(context.with_stalled)

    def get_upload(self, caller: Identity, upload_id: str) -> UploadReply:
        """Return the state of an upload and its files.

        Raises:
            PermissionDeniedError: the caller may not write the asset.
            UploadNotFoundError: the upload does not exist, or the caller may not see its asset.
        """
        upload = self.context.find(upload_id)
        self.context.asset_of(caller, upload)
        return describe_upload(upload)

    def complete_upload(self, caller: Identity, upload_id: str, body: CompleteBody) -> Completed:
        """Complete files from stored parts; return the result of each.

        May be repeated: settled files keep their result, the others are tried again. Large files
        are passed to a worker.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            InvalidInputError: the upload is of another type, or a list of parts is invalid.
            PermissionDeniedError: the caller may not write the asset.
            UnavailableError: S3 does not respond or time was up; the same request continues.
            UploadBusyError: another request is processing this upload.
            UploadNotFoundError: the caller has no such upload to this asset.
        """
        upload = self.context.find(upload_id, caller)
        if (upload.database_id, upload.asset_id) != (body.database_id, body.asset_id):
            raise UploadNotFoundError(upload_id)
        asset = self.context.assets.asset_for(caller, "POST", upload.database_id, upload.asset_id)
        if upload.upload_type != body.upload_type:
            raise InvalidInputError.of("uploadType", f"is {upload.upload_type} for this upload")
        known = {file.path: file for file in upload.files}
        rules.check_part_lists(body.files, known)
        unsettled = {}
        if any(is_open(upload, known, file) for file in body.files):
            upload = self.context.lease(upload)
            upload, asset, unsettled = self.settlement.work(
                caller, upload, asset, body.files, known
            )
        return completed_reply(upload, asset.asset_type, body.files, known, unsettled)

    def abort_upload(self, caller: Identity, upload_id: str) -> None:
        """Abort an upload: remove the stored parts of its open files, and its row.

        Raises:
            FilesBeingFinishedError: a worker is completing its large files.
            PermissionDeniedError: the caller may not write the asset.
            UploadBusyError: another request is processing it.
            UploadCompletedError: it is completed.
            UploadNotFoundError: the upload does not exist, or the caller may not see its asset.
        """
        upload = self.context.find(upload_id)
        asset = self.context.asset_of(caller, upload)
        _check_unfinished(upload)
        upload = self.context.lease(upload)
        try:
            _check_unfinished(upload)
        except StateForbidsError:  # another request has processed the files until now
            self.context.uploads.release(
                upload, results=upload.results, handed=upload.handed, status=upload.status
            )
            raise
        completion = self.context.completion(upload, asset)
        unsettled = [file for file in upload.files if file.path not in upload.results]
        in_parallel(completion.discard, [file for file in unsettled if not file.is_single])
        # Their temporary objects have no multipart upload that could be aborted.
        if any(file.is_single for file in unsettled):
            completion.remove_all_temporary()
        entry = self.context.audit.entry(
            caller,
            "abort_upload",
            audit_entity("upload", upload_id),
            before={"databaseId": upload.database_id, "assetId": upload.asset_id},
            after=None,
            at=self.context.clock(),
        )
        self.context.uploads.delete(upload, also=[entry])

    def _limit_rate(self, caller: Identity) -> None:
        now = epoch_seconds(self.context.clock())
        count = self.context.uploads.count_initialisation(caller.user_id, minute=now // 60)
        if count > self.limits.per_minute:
            raise RateLimitedError(
                f"More than {self.limits.per_minute} uploads were started within this minute",
                retry_after=60 - now % 60,
            )

    def _start_all(
        self,
        bucket: str,
        layout: rules.Layout,
        files: Sequence[NewFile],
        plan: Sequence[int],
        undo: ExitStack,
    ) -> list[UploadFile]:
        """Create a multipart upload for each file that is not uploaded whole.

        `undo` aborts those that were created.
        """
        objects = self.context.objects
        created: list[OpenUpload] = []

        def abort_created() -> None:
            in_parallel(lambda multipart: objects.abort_multipart(bucket, *multipart), created)

        def start(numbered: tuple[NewFile, int]) -> UploadFile:
            file, parts = numbered
            if file.is_empty:
                upload_id_s3 = ZERO_BYTE
            elif rules.is_single(file, self.context.large_bytes):
                upload_id_s3 = single_id(rules.temporary_name(file.path))
            else:
                key = layout.temporary_key(file.path)
                upload_id_s3 = objects.create_multipart(
                    bucket, key, content_type=UNKNOWN_TYPE, metadata={}
                )
                # As soon as it exists: another file of the request may fail at the same time.
                created.append(OpenUpload(key, upload_id_s3))
            return UploadFile(
                path=file.path,
                upload_id_s3=upload_id_s3,
                num_parts=parts,
                size=file.file_size,
                checksum_sha256=file.checksum_sha256,
            )

        undo.callback(abort_created)
        return in_parallel(start, list(zip(files, plan, strict=True)))

    def _new(
        self,
        caller: Identity,
        body: InitialiseBody,
        layout: rules.Layout,
        files: list[UploadFile],
    ) -> Upload:
        now = self.context.clock()
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


def _check_unfinished(upload: Upload) -> None:
    """Require an upload that can be aborted."""
    if upload.status == "completed":
        raise UploadCompletedError(upload.upload_id)
    working = [path for path, job in upload.handed.items() if job.stalled is None]
    if working:
        raise FilesBeingFinishedError(upload.upload_id, working)
