"""Continues uploads after their URLs expired, or after their client died."""

from dataclasses import dataclass

from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Part
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.domains.uploads import rules
from backend.domains.uploads.errors import FileNotOpenError, UploadCompletedError
from backend.domains.uploads.models import (
    RenewBody,
    RenewedFile,
    RenewedFileReply,
    RenewReply,
    StoredPart,
    Upload,
    UploadFile,
)
from backend.domains.uploads.service.context import PartUrls, UploadContext
from backend.domains.uploads.service.settlement import describe_result
from backend.domains.uploads.service.temporary import whole_part


@dataclass(eq=False, repr=False)
class RenewalService:
    context: UploadContext
    url_seconds: int

    def renew_upload(
        self, caller: Identity, upload_id: str, body: RenewBody
    ) -> tuple[RenewReply, AssetRef]:
        """Return new URLs for parts, the stored parts, and the asset of the upload.

        S3 requests: one for each file and thousand parts, none if they are not requested.

        Raises:
            FileNotOpenError: a file is complete, or being completed, or its multipart upload no
                longer exists.
            InvalidInputError: the message names unknown files or parts, or too many URLs.
            PermissionDeniedError: the caller may not write the asset.
            TooLargeError: the URLs, or the stored parts, would not fit a reply.
            UploadCompletedError: all its files are complete.
            UploadExpiredError: it has expired.
            UploadNotFoundError: the caller has no such upload, or its asset does not exist.
        """
        upload = self.context.find(upload_id, caller)
        asset = self.context.asset_of(caller, upload)
        if upload.status == "completed":
            raise UploadCompletedError(upload.upload_id)
        known = {file.path: file for file in upload.files}
        rules.check_renewal(body.files, known)
        for file in body.files:
            _check_open(upload, file.path)
        bucket, layout = self.context.place(asset, upload_id, upload.upload_type)
        urls = PartUrls(self.context.objects, bucket, layout, self.url_seconds)
        urls.check_number(sum(len(_numbers(file)) for file in body.files))

        def stored(file: RenewedFile) -> list[Part] | None:
            return self._find_parts(urls, known[file.path]) if body.stored_parts else []

        parts_of = in_parallel(stored, body.files)
        rules.check_stored_parts(sum(len(parts or ()) for parts in parts_of))
        reply = RenewReply(
            upload_id=upload_id,
            expires_in=self.url_seconds,
            files=[
                RenewedFileReply(
                    relative_key=file.relative_key,
                    upload_id_s3=known[file.path].upload_id_s3,
                    num_parts=known[file.path].num_parts,
                    part_upload_urls=[]
                    if parts is None
                    else urls.of(known[file.path], _numbers(file)),
                    stored_parts=[
                        StoredPart(part_number=part.number, etag=part.etag, size=part.size)
                        for part in parts or ()
                    ],
                    assembled=parts is None,
                )
                for file, parts in zip(body.files, parts_of, strict=True)
            ],
            message=f"Upload {upload_id} continues with {len(body.files)} files",
        )
        return reply, AssetRef(upload.database_id, upload.asset_id)

    def _find_parts(self, urls: PartUrls, file: UploadFile) -> list[Part] | None:
        """Return the stored parts; None if an earlier attempt has combined them."""
        if file.is_empty:
            return []
        objects, key = self.context.objects, urls.layout.temporary_key(file.path)
        if file.is_single:
            head = objects.head(urls.bucket, key)
            return [whole_part(head.version)] if isinstance(head, ObjectHead) else []
        try:
            return objects.list_parts(urls.bucket, key, file.upload_id_s3)
        except NotFoundError:
            if isinstance(objects.head(urls.bucket, key), ObjectHead):
                return None
            raise FileNotOpenError(file.path, "the upload no longer exists in S3") from None


def _check_open(upload: Upload, path: str) -> None:
    """Require a file for which parts can be sent."""
    if path in upload.results:
        raise FileNotOpenError(path, describe_result(upload.results[path]))
    if path in upload.handed:
        raise FileNotOpenError(path, "all its parts are stored, and the file is being completed")


def _numbers(file: RenewedFile) -> list[int]:
    return [n for wanted in file.part_ranges for n in range(wanted.first, wanted.last + 1)]
