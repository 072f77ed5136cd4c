"""S3 behind the port `core.work_files.WorkFiles`."""

import shutil
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.aws.errors import translated
from backend.aws.object_errors import translated_object

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# Read at once of a body, so that memory does not depend on the size of the file.
_BLOCK = 1 << 20


@dataclass(eq=False, repr=False)
class S3WorkFiles:
    """Objects as files of this machine (see the port for what each method promises)."""

    client: "S3Client"

    def sizes(self, bucket: str, prefix: str, *, most: int) -> Mapping[str, int]:
        sizes: dict[str, int] = {}
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        with translated("S3"):
            for page in pages:
                for entry in page.get("Contents", []):
                    sizes[entry.get("Key", "").removeprefix(prefix)] = entry.get("Size", 0)
                if len(sizes) >= most:
                    break
        return sizes

    def size(self, bucket: str, key: str, version_id: str | None) -> int:
        with translated_object(key):
            reply = self.client.head_object(Bucket=bucket, Key=key, **_version(version_id))
        return reply["ContentLength"]

    def download(self, bucket: str, key: str, version_id: str | None, path: Path) -> None:
        with translated_object(key):
            reply = self.client.get_object(Bucket=bucket, Key=key, **_version(version_id))
            with closing(reply["Body"]) as body, path.open("wb") as file:
                shutil.copyfileobj(body, file, _BLOCK)

    def check_readable(self, bucket: str, key: str, version_id: str | None) -> None:
        with translated_object(key):
            self.client.get_object(Bucket=bucket, Key=key, **_version(version_id))["Body"].close()

    def url(self, bucket: str, key: str, version_id: str | None, *, seconds: int) -> str:
        parameters = {"Bucket": bucket, "Key": key, **_version(version_id)}
        return self.client.generate_presigned_url("get_object", parameters, seconds)

    def url_to_write(
        self, bucket: str, key: str, *, content_type: str, seconds: int
    ) -> tuple[str, Mapping[str, str]]:
        # S3 creates the object only if none exists, so the URL cannot fill the bucket with
        # versions, or replace an object that was checked.
        headers = {"Content-Type": content_type, "If-None-Match": "*"}
        parameters = {
            "Bucket": bucket,
            "Key": key,
            "ContentType": content_type,
            "IfNoneMatch": "*",
        }
        return self.client.generate_presigned_url("put_object", parameters, seconds), headers

    def upload(self, path: Path, bucket: str, key: str, *, content_type: str) -> None:
        with translated_object(key, refusing=True), path.open("rb") as file:
            self.client.put_object(Bucket=bucket, Key=key, Body=file, ContentType=content_type)


def _version(version_id: str | None) -> Any:
    return {} if not version_id else {"VersionId": version_id}
