"""Complete lists page by page, an import of the whole bucket, and a required tag type.

It takes over 20 seconds: the second deployment, which the files of this folder share, starts for
it.
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.runtime import Api, Runtime
from tests.journeys.test_administration import rule_of
from tests.journeys.test_bucket_sync import (
    OTHERS,
    asset_of,
    folder,
    imported,
    keys_found,
    own_bucket,
    s3,
)

__all__ = ["folder", "s3"]

LISTS: dict[str, dict[str, str]] = {
    "/admin/failures": {"consumer": "BucketSync"},
    "/buckets": {},
    "/database/{name}/assets": {},
    "/database/{name}/assets/{name}-0/getVersions": {},
    "/subscriptions": {},
    "/tag-types": {},
    "/tags": {},
}
"""Lists that are short in the shared runtime, with their further parameters."""


@pytest.fixture(scope="module")
def furnished(runtime: Runtime, s3: Any) -> str:
    """Create two objects of each kind, under names that begin with the returned text."""
    api, name = runtime.client(), f"paged-{uuid4().hex[:8]}"
    own_bucket(s3)
    api.new_database(name)
    api.ok("POST", "/roles", {"roleName": name, "description": "of a subscriber"})
    api.ok("POST", "/user-roles", {"userId": "reader@example.org", "roleName": [name]})
    for item in (f"{name}-0", f"{name}-1"):
        api.new_asset(name, item, assetId=item)
        api.ok("POST", "/subscriptions", rule_of(item, "reader@example.org"))
        api.ok("POST", "/tag-types", {"tagTypeName": item, "description": "a test's own"})
        tag = {"tagName": item, "tagTypeName": item, "description": "a test's own"}
        api.ok("POST", "/tags", tag)
        api.ok("POST", "/admin/buckets", {"bucketName": OTHERS, "baseAssetsPrefix": item})
        version = {"comment": item, "useLatestFiles": True}
        api.ok("POST", f"/database/{name}/assets/{name}-0/createVersion", version)
        # This folder cannot become an asset: its name has a character that ids may not have.
        s3.put_object(Bucket=api.own_bucket()["bucketName"], Key=f"{item}:bad/x", Body=b"x")
    runtime.drain()
    return name


@pytest.mark.parametrize("path", LISTS)
def test_pages_of_one_item_are_the_whole_list(api: Api, furnished: str, path: str) -> None:
    where = path.format(name=furnished)
    whole, more = page(api, where, LISTS[path])
    assert len(whole) >= 2
    assert more is None
    result, token = page(api, where, {**LISTS[path], "pageSize": "1"})
    sizes = [len(result)]
    while token is not None:
        items, token = page(api, where, {**LISTS[path], "pageSize": "1", "startingToken": token})
        result += items
        sizes.append(len(items))
    assert result == whole
    assert max(sizes) == 1


def page(api: Api, path: str, query: Mapping[str, str]) -> tuple[list[Any], str | None]:
    """The items of a page and the token of the next one; some lists are inside `message`."""
    reply = api.ok("GET", path, params=query)
    result = reply.get("message", reply)
    return result["versions"] if "versions" in result else result["Items"], result.get("NextToken")


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
    reply = api.ok("GET", "/audit", params={"entity": f"bucket:{own['bucketId']}"})["Items"]
    assert reply[0]["changes"]["lastImport"] == {"before": first["jobId"], "after": second["jobId"]}


def keys_in(s3: Any, bucket: str) -> set[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return {item["Key"] for page in pages for item in page.get("Contents", [])}


def test_a_tag_is_demanded_where_its_type_is_required(api: Api, database: str) -> None:
    name = f"kind-{uuid4().hex[:8]}"
    kind = {"tagTypeName": name, "description": "What it is", "required": "True"}
    api.ok("POST", "/tag-types", kind)
    try:
        tag = {"tagName": f"{name}-pump", "description": "A pump", "tagTypeName": name}
        api.ok("POST", "/tags", tag)
        status, body = api.refused("POST", "/assets", asset_body(database, tags=[]))
        assert (status, body["errors"][0]["field"]) == (400, "tags")
        api.ok("POST", "/assets", asset_body(database, tags=[tag["tagName"]]))
        shown = api.ok("GET", "/tags")["Items"]
        assert f"{name} [R]" in {item["tagTypeName"] for item in shown}
    finally:
        api.ok("DELETE", f"/tags/{name}-pump")
        api.ok("DELETE", f"/tag-types/{name}")


def asset_body(database: str, *, tags: list[str]) -> dict[str, object]:
    return {
        "databaseId": database,
        "assetName": "Tagged",
        "description": "made by a test",
        "isDistributable": True,
        "tags": tags,
    }
