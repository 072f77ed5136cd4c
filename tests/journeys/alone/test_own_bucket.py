"""An import of the whole bucket of the deployment, whose objects the test compares."""

from typing import Any

import pytest

from tests.journeys.runtime import Api, Runtime
from tests.journeys.test_bucket_sync import asset_of, folder, imported, keys_found, s3

pytestmark = pytest.mark.xdist_group("alone")
__all__ = ["folder", "s3"]


def test_the_deployments_own_bucket_is_taken_as_a_whole_and_imported_again_and_again(
    runtime: Runtime, api: Api, s3: Any, folder: str
) -> None:
    own = api.own_bucket()
    name, path = own["bucketName"], f"/admin/buckets/{own['bucketId']}/import"
    status, refusal = api.refused(
        "POST", "/admin/buckets", {"bucketName": name, "baseAssetsPrefix": folder}
    )
    assert (status, refusal["code"]) == (409, "BucketOverlaps")
    s3.put_object(Bucket=name, Key=f"{folder}/a.glb", Body=b"glTF")
    runtime.drain()
    before, listed = asset_of(api, folder), keys_in(s3, name)

    first, second = imported(api, path), imported(api, path)
    assert [first["itemsDone"], second["itemsDone"]] == [len(listed)] * 2
    runtime.drain()
    assert asset_of(api, folder) == before
    assert keys_found(api, folder) == {f"{folder}/a.glb"}
    assert keys_in(s3, name) == listed
    told = api.ok("GET", "/audit", params={"entity": f"bucket:{own['bucketId']}"})["Items"]
    assert told[0]["changes"]["lastImport"] == {"before": first["jobId"], "after": second["jobId"]}


def keys_in(s3: Any, bucket: str) -> set[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return {one["Key"] for page in pages for one in page.get("Contents", [])}
