"""Folders of a bucket that become assets."""

from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config

from local.engines import Options
from tests.journeys.runtime import Runtime

OPTIONS = Options()


def test_files_that_were_there_before_their_asset_are_found(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    bucket = api.ok("GET", "/buckets")["Items"][0]["bucketName"]
    folder = f"old scans {uuid4().hex[:8]}"
    s3: Any = boto3.client(
        "s3",
        endpoint_url=runtime.endpoint["s3"],
        region_name=OPTIONS.region,
        aws_access_key_id=OPTIONS.access_key,
        aws_secret_access_key=OPTIONS.secret_key,
        config=Config(signature_version="s3v4"),
    )
    for name in ("hall.e57", "yard/gate.e57"):
        s3.put_object(Bucket=bucket, Key=f"{folder}/{name}", Body=b"points")
    runtime.drain()
    assert api.search(databaseId=database) == []

    asset = api.new_asset(database, "Scans", bucketExistingKey=folder)
    runtime.drain()
    found = api.search(databaseId=database, entityTypes=["file"])
    assert {one["str_key"] for one in found} == {
        f"{folder}/hall.e57",
        f"{folder}/yard/gate.e57",
    }
    assert {one["str_assetid"] for one in found} == {asset}
