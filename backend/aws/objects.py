"""S3 behind the port `core.objects.Objects`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from botocore.exceptions import ClientError

from backend.aws.errors import OUTAGE_CODES, code_of, translated
from backend.aws.object_errors import ABSENT, NOT_BY_HEAD, translated_object
from backend.aws.presigning import UrlSigner
from backend.aws.version_listings import is_before, newest_first
from backend.core.errors import UnavailableError
from backend.core.names import MAX_KEY_BYTES
from backend.core.objects import (
    MAX_BATCH,
    NO_TAGS,
    UNVERSIONED,
    ObjectHead,
    ObjectPage,
    ObjectRef,
    ObjectRefusedError,
    ObjectVersion,
    OpenUpload,
    Part,
    Start,
    VersionPage,
    Written,
)
from backend.core.reads import REQUEST_PARAMETER

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from backend.core.file_kinds import Serving

_ARCHIVE_CLASSES = frozenset({"GLACIER", "DEEP_ARCHIVE"})  # GLACIER_IR objects can be read at once

_CHUNK_BYTES = 1024 * 1024  # read at once, so that memory does not depend on an object's size
# Characters that a key may contain and the XML body of DeleteObjects cannot.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(eq=False, repr=False)
class S3Objects:
    """The objects of a deployment's buckets (see the port for what each method promises)."""

    client: "S3Client"
    request_id: Callable[[], str] = str
    """Returns the request id that presigned URLs contain; an empty id is omitted."""

    def head(
        self, bucket: str, key: str, *, version_id: str | None = None
    ) -> ObjectHead | ObjectVersion | None:
        version: Any = {} if version_id is None else {"VersionId": version_id}
        try:
            with translated("S3"):
                reply = self.client.head_object(Bucket=bucket, Key=key, **version)
        except ClientError as error:
            if code_of(error) not in ABSENT | NOT_BY_HEAD:
                raise
            return self._marker(bucket, key, version_id)
        current = ObjectVersion(
            key=key,
            version_id=reply.get("VersionId", UNVERSIONED),
            is_latest=version_id is None,
            last_modified=reply["LastModified"],
            size=reply["ContentLength"],
            etag=reply["ETag"].strip('"'),
            storage_class=reply.get("StorageClass", "STANDARD"),
        )
        content_type = reply.get("ContentType", "application/octet-stream")
        metadata = {name.lower(): value for name, value in reply["Metadata"].items()}
        is_archived = reply.get("StorageClass") in _ARCHIVE_CLASSES or "ArchiveStatus" in reply
        # `Restore` is 'ongoing-request="false", expiry-date=…' once a restored copy exists.
        needs_restore = is_archived and 'ongoing-request="false"' not in reply.get("Restore", "")
        return ObjectHead(current, content_type, metadata, needs_restore, reply.get("TagCount", 0))

    def tags(self, bucket: str, key: str, *, version_id: str) -> Mapping[str, str]:
        with translated_object(key):
            reply = self.client.get_object_tagging(Bucket=bucket, Key=key, VersionId=version_id)
        return {tag["Key"]: tag["Value"] for tag in reply["TagSet"]}

    def list_objects(
        self, bucket: str, prefix: str, *, limit: int = 1000, after: str | None = None
    ) -> ObjectPage:
        if _is_too_long(prefix):
            return ObjectPage(())
        start: Any = {} if after is None else {"StartAfter": after}
        with translated("S3"):
            reply = self.client.list_objects_v2(
                Bucket=bucket, Prefix=prefix, MaxKeys=limit, **start
            )
        versions = tuple(
            ObjectVersion(
                key=entry.get("Key", ""),
                version_id="",  # not part of this listing
                is_latest=True,
                last_modified=entry["LastModified"],  # pyright: ignore[reportTypedDictNotRequiredAccess]
                size=entry.get("Size", 0),
                etag=entry.get("ETag", "").strip('"'),
                storage_class=entry.get("StorageClass", "STANDARD"),
            )
            for entry in reply.get("Contents", [])
        )
        return ObjectPage(versions, versions[-1].key if versions and reply["IsTruncated"] else None)

    def list_versions(
        self,
        bucket: str,
        prefix: str,
        *,
        limit: int = 1000,
        after_key: str | None = None,
        after_version_id: str | None = None,
    ) -> VersionPage:
        if _is_too_long(prefix):
            return VersionPage(())
        start: dict[str, Any] = {"KeyMarker": after_key, "VersionIdMarker": after_version_id}
        with translated("S3"):
            reply = self.client.list_object_versions(
                Bucket=bucket,
                Prefix=prefix,
                MaxKeys=limit,
                **{name: value for name, value in start.items() if value is not None},
            )
        both = [
            version
            for version in newest_first(reply)
            if not is_before(version, after_key, after_version_id)
        ]
        if not reply["IsTruncated"]:
            return VersionPage(tuple(both))
        return VersionPage(
            tuple(both), reply.get("NextKeyMarker"), reply.get("NextVersionIdMarker")
        )

    def read_start(self, bucket: str, key: str, *, length: int) -> bytes:
        return self.read_version(bucket, key, length=length).content

    def read_version(self, bucket: str, key: str, *, length: int) -> Start:
        try:
            with translated_object(key):
                reply = self.client.get_object(
                    Bucket=bucket, Key=key, Range=f"bytes=0-{length - 1}"
                )
                content = reply["Body"].read()
        except ClientError as error:
            if code_of(error) != "InvalidRange":  # no range of an empty object is valid
                raise
            with translated_object(key):
                reply = self.client.get_object(Bucket=bucket, Key=key)
                content = reply["Body"].read(length)
        size = reply["ContentRange"].rpartition("/")[2] if "ContentRange" in reply else len(content)
        version = ObjectVersion(
            key=key,
            version_id=reply.get("VersionId", UNVERSIONED),
            is_latest=True,
            last_modified=reply["LastModified"],
            size=int(size),
            etag=reply["ETag"].strip('"'),
            storage_class=reply.get("StorageClass", "STANDARD"),
        )
        return Start(version, content)

    def read_chunks(self, bucket: str, key: str) -> Iterator[bytes]:
        with translated_object(key):
            body = self.client.get_object(Bucket=bucket, Key=key)["Body"]
            with closing(body):
                yield from body.iter_chunks(_CHUNK_BYTES)

    def put(
        self, bucket: str, key: str, body: bytes, *, content_type: str, metadata: Mapping[str, str]
    ) -> Written:
        with translated_object(key, refusing=True):
            reply = self.client.put_object(
                Bucket=bucket,
                Key=key,
                Body=body,
                ContentType=content_type,
                Metadata=dict(metadata),
            )
        return Written(reply.get("VersionId", UNVERSIONED), reply["ETag"].strip('"'))

    def copy(
        self,
        source: ObjectRef,
        target: ObjectRef,
        *,
        content_type: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str] = NO_TAGS,
        version_id: str | None = None,
    ) -> Written:
        with translated_object(target.key, refusing=True):
            reply = self.client.copy_object(
                CopySource=_source(source, version_id),
                Bucket=target.bucket,
                Key=target.key,
                ContentType=content_type,
                Metadata=dict(metadata),
                MetadataDirective="REPLACE",
                # S3 would copy all tags, also the result of a malware scan of the source.
                TaggingDirective="REPLACE",
                **_tagging_argument(tags),
            )
        etag = reply["CopyObjectResult"].get("ETag", "")
        return Written(reply.get("VersionId", UNVERSIONED), etag.strip('"'))

    def delete(self, bucket: str, key: str) -> None:
        with translated("S3"):
            self.client.delete_object(Bucket=bucket, Key=key)

    def delete_version(self, bucket: str, key: str, *, version_id: str) -> None:
        with translated("S3"):
            self.client.delete_object(Bucket=bucket, Key=key, VersionId=version_id)

    def delete_many(self, bucket: str, wanted: Sequence[tuple[str, str | None]]) -> None:
        together = [pair for pair in wanted if not _NOT_IN_XML.search(pair[0])]
        for start in range(0, len(together), MAX_BATCH):
            self._delete(bucket, together[start : start + MAX_BATCH])
        for key, version_id in wanted:
            if not _NOT_IN_XML.search(key):
                continue
            if version_id is None:
                self.delete(bucket, key)
            else:
                self.delete_version(bucket, key, version_id=version_id)

    def list_multiparts(self, bucket: str, prefix: str, *, limit: int = 1000) -> list[OpenUpload]:
        with translated("S3"):
            reply = self.client.list_multipart_uploads(
                Bucket=bucket, Prefix=prefix, MaxUploads=limit
            )
        return [
            OpenUpload(entry.get("Key", ""), entry.get("UploadId", ""))
            for entry in reply.get("Uploads", [])
        ]

    def create_multipart(
        self,
        bucket: str,
        key: str,
        *,
        content_type: str,
        metadata: Mapping[str, str],
        tags: Mapping[str, str] = NO_TAGS,
    ) -> str:
        with translated_object(key, refusing=True):
            reply = self.client.create_multipart_upload(
                Bucket=bucket,
                Key=key,
                ContentType=content_type,
                Metadata=dict(metadata),
                **_tagging_argument(tags),
            )
        return reply["UploadId"]

    def copy_part(
        self,
        source: ObjectRef,
        target: ObjectRef,
        *,
        upload_id: str,
        number: int,
        span: tuple[int, int],
        version_id: str | None = None,
    ) -> Part:
        with translated_object(target.key, refusing=True):
            reply = self.client.upload_part_copy(
                CopySource=_source(source, version_id),
                CopySourceRange=f"bytes={span[0]}-{span[1] - 1}",
                Bucket=target.bucket,
                Key=target.key,
                UploadId=upload_id,
                PartNumber=number,
            )
        return Part(number, reply["CopyPartResult"].get("ETag", "").strip('"'), span[1] - span[0])

    def list_parts(self, bucket: str, key: str, upload_id: str) -> list[Part]:
        pages = self.client.get_paginator("list_parts").paginate(
            Bucket=bucket, Key=key, UploadId=upload_id
        )
        with translated_object(key):
            return [
                Part(
                    entry.get("PartNumber", 0),
                    entry.get("ETag", "").strip('"'),
                    entry.get("Size", 0),
                )
                for page in pages
                for entry in page.get("Parts", [])
            ]

    def complete_multipart(
        self, bucket: str, key: str, upload_id: str, parts: Sequence[Part]
    ) -> Written:
        wanted: Any = [{"PartNumber": part.number, "ETag": part.etag} for part in parts]
        with translated_object(key, refusing=True):
            reply = self.client.complete_multipart_upload(
                Bucket=bucket, Key=key, UploadId=upload_id, MultipartUpload={"Parts": wanted}
            )
        return Written(reply.get("VersionId", UNVERSIONED), reply.get("ETag", "").strip('"'))

    def abort_multipart(self, bucket: str, key: str, upload_id: str) -> None:
        try:
            with translated("S3"):
                self.client.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload_id)
        except ClientError as error:
            if code_of(error) != "NoSuchUpload":
                raise

    def presign_part(
        self, bucket: str, key: str, *, upload_id: str, number: int, expires: int
    ) -> str:
        query = {"uploadId": upload_id, "partNumber": str(number)}
        return self._presign("UploadPart", bucket, key, query, expires)

    def presign_put(self, bucket: str, key: str, *, expires: int) -> str:
        return self._presign("PutObject", bucket, key, {}, expires)

    def presign_get(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None,
        serving: "Serving",
        expires: int,
    ) -> str:
        query = {
            "response-content-type": serving.content_type,
            "response-content-disposition": serving.disposition,
            "response-cache-control": serving.cache_control,
            "versionId": version_id,
        }
        chosen = {name: value for name, value in query.items() if value is not None}
        return self._presign("GetObject", bucket, key, chosen, expires)

    def _presign(
        self, operation: str, bucket: str, key: str, query: dict[str, str], expires: int
    ) -> str:
        if request_id := self.request_id():
            query[REQUEST_PARAMETER] = request_id
        return self._signer.sign(operation, bucket, key, query, expires)

    @cached_property
    def _signer(self) -> UrlSigner:
        return UrlSigner(self.client)

    def _delete(self, bucket: str, batch: Sequence[tuple[str, str | None]]) -> None:
        entries: Any = [
            {"Key": key} if version_id is None else {"Key": key, "VersionId": version_id}
            for key, version_id in batch
        ]
        with translated("S3"):
            reply = self.client.delete_objects(
                Bucket=bucket, Delete={"Objects": entries, "Quiet": True}
            )
        for error in reply.get("Errors", []):
            code, reason = error.get("Code", ""), error.get("Message", "")
            if code in OUTAGE_CODES:
                raise UnavailableError(f"S3 does not respond: {code}")
            if code not in ABSENT:
                raise ObjectRefusedError(error.get("Key", ""), f"{code} {reason}".strip())

    def _marker(self, bucket: str, key: str, version_id: str | None) -> ObjectVersion | None:
        """Return the delete marker that HEAD found, if it was one.

        The listing is needed: HEAD does not return when a marker was created, and versitygw's does
        not even distinguish a marker from a missing object.
        """
        after_key, after_id = None, None
        while True:
            page = self.list_versions(bucket, key, after_key=after_key, after_version_id=after_id)
            for version in page.versions:
                if version.key != key:
                    return None  # all versions of the key itself come before those of longer keys
                if version_id in {None, version.version_id}:
                    return version if version.is_delete_marker else None
            after_key, after_id = page.next_key, page.next_version_id
            if after_key is None:
                return None


def _is_too_long(prefix: str) -> bool:
    """Return whether a prefix is longer than any key, which S3 would reject."""
    return len(prefix.encode()) > MAX_KEY_BYTES


def _source(source: ObjectRef, version_id: str | None) -> Any:
    wanted = {"Bucket": source.bucket, "Key": source.key}
    return wanted if version_id is None else {**wanted, "VersionId": version_id}


def _tagging_argument(tags: Mapping[str, str]) -> Any:
    # An empty parameter would require the permission to write tags, too.
    return {"Tagging": urlencode(tags, quote_via=quote)} if tags else {}
