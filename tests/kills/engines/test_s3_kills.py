"""The S3 server is killed during changes and multipart uploads: no acknowledged write is lost."""

import hashlib
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from tests.integration.local.engines.support import Site

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef, ObjectIdentifierTypeDef


ENGINE = "s3"
BUCKET = "killed"
KEYS = [f"asset/d{number % 7}/{number}.stl" for number in range(120)]
KILLS = 8
MOST_SECONDS = 0.3


class Version(NamedTuple):
    id: str
    is_marker: bool
    is_latest: bool


def versions(site: Site) -> dict[str, list[Version]]:
    """The versions of each key, as listed."""
    outcome: dict[str, list[Version]] = {}
    for page in site.clients.s3.get_paginator("list_object_versions").paginate(Bucket=BUCKET):
        for item in page.get("Versions", []):
            result = Version(item.get("VersionId", ""), False, item.get("IsLatest", False))
            outcome.setdefault(item.get("Key", ""), []).append(result)
        for item in page.get("DeleteMarkers", []):
            result = Version(item.get("VersionId", ""), True, item.get("IsLatest", False))
            outcome.setdefault(item.get("Key", ""), []).append(result)
    return outcome


def left_to_hide(site: Site) -> list["ObjectIdentifierTypeDef"]:
    result = versions(site)
    return [{"Key": k} for k in KEYS if not any(v.is_latest and v.is_marker for v in result[k])]


def left_to_show(site: Site) -> list["ObjectIdentifierTypeDef"]:
    return [
        {"Key": key, "VersionId": version.id}
        for key, some in versions(site).items()
        for version in some
        if version.is_latest and version.is_marker
    ]


def delete(site: Site, wanted: list["ObjectIdentifierTypeDef"]) -> None:
    with suppress(BotoCoreError, ClientError):
        for number in range(0, len(wanted), 50):
            site.clients.s3.delete_objects(
                Bucket=BUCKET, Delete={"Objects": wanted[number : number + 50]}
            )


def kill_amid(site: Site, wanted: list["ObjectIdentifierTypeDef"], seconds: float) -> None:
    deleting = threading.Thread(target=delete, args=(site, wanted))
    deleting.start()
    time.sleep(seconds)
    site.running.kill()
    deleting.join()
    site.crash_and_restart()


def wrong(site: Site, first: dict[str, str]) -> dict[str, list[Version]]:
    """The keys that are neither hidden by one marker nor visible with their one version."""
    result = versions(site)
    bad = {key: some for key, some in result.items() if key not in first}
    for key in KEYS:
        some = result.get(key, [])
        contents = [version.id for version in some if not version.is_marker]
        if contents != [first[key]] or sum(version.is_latest for version in some) != 1:
            bad[key] = some
    return bad


def test_a_kill_leaves_every_key_as_before_or_as_after(site: Site) -> None:
    s3 = site.clients.s3
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    bodies = {key: key.encode() * 20 for key in KEYS}
    first = {
        key: s3.put_object(Bucket=BUCKET, Key=key, Body=body)["VersionId"]
        for key, body in bodies.items()
    }
    moments = random.Random(4)
    left: Callable[[Site], list[ObjectIdentifierTypeDef]]
    for number in range(KILLS):
        left = left_to_show if number % 2 else left_to_hide
        kill_amid(site, left(site), moments.uniform(0, MOST_SECONDS))
        assert wrong(site, first) == {}, f"kill {number}"
        while wanted := left(site):
            delete(site, wanted)
    assert left_to_show(site) == []
    s3 = site.clients.s3
    assert {key: s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in KEYS} == bodies
    for key, version in first.items():
        s3.delete_object(Bucket=BUCKET, Key=key, VersionId=version)
    assert versions(site) == {}


PARTS_BUCKET = "large"
PARTS = 24
PART = bytes(range(256)) * (8 * 1024**2 // 256)
MOST_PART_SECONDS = 60


class Upload:
    """An upload whose parts are stored."""

    def __init__(self, site: Site) -> None:
        """Send all parts, which differ in their first bytes."""
        s3 = site.clients.s3
        with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            s3.create_bucket(Bucket=PARTS_BUCKET)
            s3.put_bucket_versioning(
                Bucket=PARTS_BUCKET, VersioningConfiguration={"Status": "Enabled"}
            )
        self.site = site
        self.key = f"scan/{uuid4().hex}.bin"
        self.id = s3.create_multipart_upload(Bucket=PARTS_BUCKET, Key=self.key)["UploadId"]
        self.parts: list[CompletedPartTypeDef] = []
        digest = hashlib.sha256()
        for number in range(1, PARTS + 1):
            body = number.to_bytes(8) + PART[8:]
            digest.update(body)
            etag = s3.upload_part(
                Bucket=PARTS_BUCKET, Key=self.key, UploadId=self.id, PartNumber=number, Body=body
            )["ETag"]
            self.parts.append({"PartNumber": number, "ETag": etag})
        self.digest = digest.hexdigest()

    def complete(self) -> None:
        self.site.clients.s3.complete_multipart_upload(
            Bucket=PARTS_BUCKET,
            Key=self.key,
            UploadId=self.id,
            MultipartUpload={"Parts": self.parts},
        )

    def listed(self) -> int | None:
        """Return the number of listed parts; 0 if the upload is not known."""
        s3 = self.site.clients.s3
        try:
            parts = s3.list_parts(Bucket=PARTS_BUCKET, Key=self.key, UploadId=self.id)
        except s3.exceptions.NoSuchUpload:
            return None
        return len(parts.get("Parts", []))

    def is_made(self) -> bool:
        try:
            self.site.clients.s3.head_object(Bucket=PARTS_BUCKET, Key=self.key)
        except ClientError:
            return False
        return True

    def stored(self) -> str:
        """Return the digest of the object, and remove it."""
        s3 = self.site.clients.s3
        got = s3.get_object(Bucket=PARTS_BUCKET, Key=self.key)
        digest = hashlib.sha256()
        for chunk in got["Body"].iter_chunks(1024**2):
            digest.update(chunk)
        s3.delete_object(Bucket=PARTS_BUCKET, Key=self.key, VersionId=got["VersionId"])
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
        deadline = time.monotonic() + MOST_PART_SECONDS
        while any(buckets.glob(f"{PARTS_BUCKET}/.sgwtmp/multipart/*/{self.id}")):
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
        site.clients.s3.abort_multipart_upload(
            Bucket=PARTS_BUCKET, Key=upload.key, UploadId=upload.id
        )
    assert upload.is_made()
    completing.join()
    assert upload.stored() == upload.digest
