"""Folders of a bucket from before its registration become assets."""

from typing import Any
from uuid import uuid4

from tests.journeys.runtime import Runtime, wait_for
from tests.journeys.test_bucket_sync import OTHERS, own_bucket, s3

__all__ = ["s3"]


def test_files_that_were_there_before_their_asset_are_found(runtime: Runtime, s3: Any) -> None:
    own_bucket(s3)
    api = runtime.client()
    base = f"archive-{uuid4().hex[:8]}"
    folder = f"{base}/old scans"
    for name in ("hall.e57", "yard/gate.e57"):
        s3.put_object(Bucket=OTHERS, Key=f"{folder}/{name}", Body=b"points")
    runtime.drain()
    bucket = api.ok("POST", "/admin/buckets", {"bucketName": OTHERS, "baseAssetsPrefix": base})
    made = {"databaseId": base, "description": "made by a test"}
    api.ok("POST", "/database", {**made, "defaultBucketId": bucket["bucketId"]})
    assert api.search(databaseId=base) == []

    asset = api.new_asset(base, "Scans", bucketExistingKey="old scans")

    def files() -> set[tuple[str, str]]:
        found = api.search(databaseId=base, entityTypes=["file"])
        return {(one["str_assetid"], one["str_key"]) for one in found}

    wait_for(files, {(asset, f"{folder}/{name}") for name in ("hall.e57", "yard/gate.e57")})
