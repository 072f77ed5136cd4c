"""versitygw is killed, and gets further requests, while it joins parts: no upload is lost.

S3 lists an upload until its object is in its place. The released versitygw claims an upload
before it puts it together: a request meanwhile returns that there is no such upload, or that its
object is made, and a kill leaves the claim for ever (decision 0034).
"""

import hashlib
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from tests.integration.local.engines.support import Site

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

ENGINE = "s3"
BUCKET = "large"
PARTS = 24
PART = bytes(range(256)) * (8 * 1024**2 // 256)
MOST_SECONDS = 60


class Upload:
    """An upload whose parts are stored."""

    def __init__(self, site: Site) -> None:
        """Send all parts, which differ in their first bytes."""
        s3 = site.clients.s3
        with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            s3.create_bucket(Bucket=BUCKET)
            s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        self.site = site
        self.key = f"scan/{uuid4().hex}.bin"
        self.id = s3.create_multipart_upload(Bucket=BUCKET, Key=self.key)["UploadId"]
        self.parts: list[CompletedPartTypeDef] = []
        digest = hashlib.sha256()
        for number in range(1, PARTS + 1):
            body = number.to_bytes(8) + PART[8:]
            digest.update(body)
            etag = s3.upload_part(
                Bucket=BUCKET, Key=self.key, UploadId=self.id, PartNumber=number, Body=body
            )["ETag"]
            self.parts.append({"PartNumber": number, "ETag": etag})
        self.digest = digest.hexdigest()

    def complete(self) -> None:
        self.site.clients.s3.complete_multipart_upload(
            Bucket=BUCKET, Key=self.key, UploadId=self.id, MultipartUpload={"Parts": self.parts}
        )

    def listed(self) -> int | None:
        """Return the number of listed parts; 0 if the upload is not known."""
        s3 = self.site.clients.s3
        try:
            found = s3.list_parts(Bucket=BUCKET, Key=self.key, UploadId=self.id)
        except s3.exceptions.NoSuchUpload:
            return None
        return len(found.get("Parts", []))

    def is_made(self) -> bool:
        try:
            self.site.clients.s3.head_object(Bucket=BUCKET, Key=self.key)
        except ClientError:
            return False
        return True

    def stored(self) -> str:
        """Return the digest of the object, and remove it."""
        s3 = self.site.clients.s3
        got = s3.get_object(Bucket=BUCKET, Key=self.key)
        digest = hashlib.sha256()
        for chunk in got["Body"].iter_chunks(1024**2):
            digest.update(chunk)
        s3.delete_object(Bucket=BUCKET, Key=self.key, VersionId=got["VersionId"])
        return digest.hexdigest()

    def completing(self) -> threading.Thread:
        """Send a request that completes it; the request may be interrupted."""

        def complete() -> None:
            with suppress(BotoCoreError, ClientError):
                self.complete()

        thread = threading.Thread(target=complete)
        thread.start()
        return thread

    def wait_claimed(self) -> None:
        """Wait until versitygw has started, or ended: it renames the folder of the parts."""
        buckets: Path = self.site.folder / "data" / ENGINE / "buckets"
        deadline = time.monotonic() + MOST_SECONDS
        while any(buckets.glob(f"{BUCKET}/.sgwtmp/multipart/*/{self.id}")):
            assert time.monotonic() < deadline


def test_an_upload_that_a_kill_met_while_it_was_completed_is_there_or_made(site: Site) -> None:
    upload = Upload(site)
    completing = upload.completing()
    upload.wait_claimed()
    site.running.kill()
    completing.join()
    site.crash_and_restart()
    assert upload.is_made() or upload.listed() == PARTS
    upload.complete()
    assert upload.listed() is None
    assert upload.stored() == upload.digest


@pytest.mark.parametrize("question", ["complete", "listed"])
def test_a_request_while_an_upload_is_completed_is_answered_after_its_completion(
    site: Site, question: str
) -> None:
    upload = Upload(site)
    completing = upload.completing()
    upload.wait_claimed()
    getattr(upload, question)()
    assert upload.is_made()
    completing.join()
    assert upload.stored() == upload.digest


def test_an_upload_that_is_abandoned_while_it_is_completed_is_completed(site: Site) -> None:
    upload = Upload(site)
    completing = upload.completing()
    upload.wait_claimed()
    with pytest.raises(ClientError, match="NoSuchUpload"):
        site.clients.s3.abort_multipart_upload(Bucket=BUCKET, Key=upload.key, UploadId=upload.id)
    assert upload.is_made()
    completing.join()
    assert upload.stored() == upload.digest
