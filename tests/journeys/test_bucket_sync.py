"""Folders of a bucket that other programs write, and those that exist before a registration."""

from contextlib import suppress
from typing import Any, cast
from urllib.parse import quote
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config

from local.engines import Options
from tests.journeys.runtime import Api, Runtime, wait_for, wait_until
from tests.journeys.test_executions import executions, have_ended

OPTIONS = Options()
IMPORTED = "imported"
OTHERS = "vitrine-imports"
"""The bucket that the local stage imports."""


@pytest.fixture(scope="module")
def s3(runtime: Runtime) -> Any:
    """Another program's client, directly at the store."""
    return cast(
        "Any",
        boto3.client(
            "s3",
            endpoint_url=runtime.endpoint["s3"],
            region_name=OPTIONS.region,
            **runtime.keys,
            config=Config(signature_version="s3v4"),
        ),
    )


@pytest.fixture
def folder() -> str:
    """The beginning of the names of a test's own folders."""
    return f"sync {uuid4().hex[:8]}"


def asset_of(api: Api, asset_id: str, database: str = IMPORTED) -> Any:
    return api.ok("GET", f"/database/{database}/assets/{quote(asset_id)}")


def keys_found(api: Api, folder: str, database: str = IMPORTED) -> set[str]:
    hits = api.search(databaseId=database, entityTypes=["file"])
    return {item["str_key"] for item in hits if item["str_key"].startswith(folder)}


def versions_of(s3: Any, bucket: str, prefix: str) -> list[tuple[str, str, str]]:
    page = s3.list_object_versions(Bucket=bucket, Prefix=prefix)
    return sorted((v["Key"], v["VersionId"], v["ETag"]) for v in page.get("Versions", []))


def test_objects_that_others_write_become_assets_and_files(
    runtime: Runtime, api: Api, s3: Any, folder: str
) -> None:
    bucket = api.own_bucket()["bucketName"]
    long = "/".join(["é" * 100] * 4)
    long += "/" + "x" * (1024 - len(f"{folder} +1/{long}/".encode()))
    paths = ("no-dot", "a b+c %20.glb", "deep/ünïcødé/😀.e57", long)
    keys = {f"{folder} +1/{path}" for path in paths} | {f"{folder} two/only.glb"}
    for key in keys:
        s3.put_object(Bucket=bucket, Key=key, Body=key.encode())
    for key in (f"{folder}.txt", f"{folder}:bad/x", f"temp-uploads/{folder}/x"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"left alone")
    before = versions_of(s3, bucket, folder)
    runtime.drain()

    several, single = asset_of(api, f"{folder} +1"), asset_of(api, f"{folder} two")
    assert (several["assetName"], several["assetType"]) == (f"{folder} +1", "folder")
    assert several["description"] == f"Found in the bucket: s3://{bucket}/{folder} +1/"
    assert several["currentVersion"]["createdBy"] == "SYSTEM"
    assert single["assetType"] == ".glb"
    assert keys_found(api, folder) == keys
    listed = api.ok("GET", f"/database/{IMPORTED}/assets/{quote(f'{folder} +1')}/listFiles")
    assert {item["key"] for item in listed["items"] if not item["isFolder"]} == keys - {
        f"{folder} two/only.glb"
    }
    reasons = [failure["reason"] for failure in failures(api) if folder in failure["reason"]]
    assert len(reasons) == 2
    assert versions_of(s3, bucket, folder) == before
    # Workflows start on them as on uploads, although the asset was created after the event.
    path = f"/database/{IMPORTED}/assets/{quote(f'{folder} two')}"
    wait_until(lambda: have_ended(api, path, 1))
    (run,) = executions(api, path)
    assert (run["trigger"], run["startedBy"]) == ("upload", "SYSTEM")
    assert run["inputAssetFileKey"] == f"{folder} two/only.glb"


def failures(api: Api) -> list[dict[str, Any]]:
    return api.ok("GET", "/admin/failures", params={"consumer": "BucketSync"})["Items"]


def test_files_that_others_change_and_delete_are_followed(
    runtime: Runtime, api: Api, s3: Any, folder: str
) -> None:
    bucket = api.own_bucket()["bucketName"]
    s3.put_object(Bucket=bucket, Key=f"{folder}/a.glb", Body=b"1")
    wait_for(lambda: keys_found(api, folder), {f"{folder}/a.glb"})
    s3.put_object(Bucket=bucket, Key=f"{folder}/a.glb", Body=b"four")
    s3.put_object(Bucket=bucket, Key=f"{folder}/b.glb", Body=b"2")

    def sizes() -> dict[str, int]:
        hits = api.search(databaseId=IMPORTED, entityTypes=["file"])
        return {item["str_key"]: item["num_filesize"] for item in hits if folder in item["str_key"]}

    wait_for(sizes, {f"{folder}/a.glb": 4, f"{folder}/b.glb": 1})
    wait_for(lambda: asset_of(api, folder)["assetType"], "folder")
    s3.delete_object(Bucket=bucket, Key=f"{folder}/b.glb")
    wait_for(lambda: asset_of(api, folder)["assetType"], ".glb")
    wait_for(lambda: keys_found(api, folder), {f"{folder}/a.glb"})

    asset = f"/database/{IMPORTED}/assets/{quote(folder)}"
    api.ok("DELETE", f"{asset}/deleteAsset", {"confirmPermanentDelete": True})
    runtime.drain()
    assert api.send("GET", asset).status_code == 404  # its own events do not restore it
    s3.put_object(Bucket=bucket, Key=f"{folder}/new.glb", Body=b"1")
    wait_for(lambda: keys_found(api, folder), {f"{folder}/new.glb"})
    assert asset_of(api, folder)["assetType"] == ".glb"


def test_a_bucket_of_others_is_registered_and_imported(
    runtime: Runtime, api: Api, s3: Any, folder: str, database: str
) -> None:
    own_bucket(s3)
    keys = [f"{folder}/hall/{n:03}.e57" for n in range(12)] + [f"{folder}/gate +/plan"]
    for key in (*keys, f"{folder}/loose.pdf", "elsewhere/x"):
        s3.put_object(Bucket=OTHERS, Key=key, Body=b"points")
    runtime.drain()
    body = {"bucketName": OTHERS, "baseAssetsPrefix": folder, "defaultDatabaseId": database}
    made = api.ok("POST", "/admin/buckets", body)
    assert made["baseAssetsPrefix"] == f"{folder}/"
    status, refusal = api.refused("POST", "/admin/buckets", {"bucketName": OTHERS})
    assert (status, refusal["code"]) == (409, "BucketOverlaps")
    before = versions_of(s3, OTHERS, folder)

    done = imported(api, f"/admin/buckets/{made['bucketId']}/import")
    assert done["itemsDone"] == len(keys) + 1
    assert [f"{folder}/loose.pdf" in problem for problem in done["problems"]] == [True]
    wait_for(lambda: keys_found(api, folder, database), set(keys))
    assert asset_of(api, "hall", database)["bucketName"] == OTHERS
    assert asset_of(api, "gate +", database)["assetType"] == "unknown"
    s3.put_object(Bucket=OTHERS, Key=f"{folder}/late/a.glb", Body=b"1")
    wait_for(lambda: keys_found(api, folder, database), {*keys, f"{folder}/late/a.glb"})
    assert asset_of(api, "late", database)["assetType"] == ".glb"
    assert [v for v in versions_of(s3, OTHERS, folder) if "/late/" not in v[0]] == before
    status, _ = api.refused("POST", "/admin/buckets/absent/import", {})
    assert status == 404


def own_bucket(s3: Any) -> None:
    """Create the bucket that the stage imports, as its owner would.

    Another worker may have done so.
    """
    with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
        s3.create_bucket(Bucket=OTHERS)
    s3.put_bucket_versioning(Bucket=OTHERS, VersioningConfiguration={"Status": "Enabled"})


def imported(api: Api, path: str) -> dict[str, Any]:
    """Import a bucket; return the job when it is done."""
    job = f"/jobs/{api.ok('POST', path, {})['jobId']}"
    wait_until(lambda: api.ok("GET", job)["state"] == "done")
    return api.ok("GET", job)


def test_files_written_into_an_archived_asset_are_hidden_until_it_is_restored(
    runtime: Runtime, api: Api, s3: Any, folder: str
) -> None:
    bucket = api.own_bucket()["bucketName"]
    s3.put_object(Bucket=bucket, Key=f"{folder}/a.glb", Body=b"glTF")
    wait_for(lambda: keys_found(api, folder), {f"{folder}/a.glb"})
    path = f"/database/{IMPORTED}/assets/{quote(folder)}"
    api.ok("DELETE", f"{path}/archiveAsset", {"confirmArchive": True})
    s3.put_object(Bucket=bucket, Key=f"{folder}/late.glb", Body=b"glTF, late")

    wait_for(lambda: s3.list_objects_v2(Bucket=bucket, Prefix=f"{folder}/")["KeyCount"], 0)
    runtime.drain()
    api.ok("PUT", f"{path}/unarchiveAsset", {"confirmUnarchive": True})

    def shown() -> set[str]:
        return {item["fileName"] for item in api.ok("GET", f"{path}/listFiles")["items"]}

    wait_for(shown, {"a.glb", "late.glb"})
    wait_for(lambda: keys_found(api, folder), {f"{folder}/a.glb", f"{folder}/late.glb"})


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
        hits = api.search(databaseId=base, entityTypes=["file"])
        return {(item["str_assetid"], item["str_key"]) for item in hits}

    wait_for(files, {(asset, f"{folder}/{name}") for name in ("hall.e57", "yard/gate.e57")})
