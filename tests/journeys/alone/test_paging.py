"""Lists that are read with one item a page, to their end, tell what they tell at once."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest

from tests.journeys.runtime import Api, Runtime
from tests.journeys.test_administration import asked
from tests.journeys.test_bucket_sync import OTHERS, own_bucket, s3

pytestmark = pytest.mark.xdist_group("alone")
__all__ = ["s3"]

LISTS: dict[str, dict[str, str]] = {
    "/admin/failures": {"consumer": "BucketSync"},
    "/buckets": {},
    "/database/{name}/assets": {},
    "/database/{name}/assets/{name}-0/getVersions": {},
    "/subscriptions": {},
    "/tag-types": {},
    "/tags": {},
}
"""Lists that stay short in the runtime that all journeys share, and what else they are asked."""


@pytest.fixture(scope="module")
def furnished(runtime: Runtime, s3: Any) -> str:
    """Two of everything, under names that begin with the one that this answers."""
    api, name = runtime.client(), f"paged-{uuid4().hex[:8]}"
    own_bucket(s3)
    api.new_database(name)
    for each in (f"{name}-0", f"{name}-1"):
        api.new_asset(name, each, assetId=each)
        api.ok("POST", "/subscriptions", asked(each, "reader@example.org"))
        api.ok("POST", "/tag-types", {"tagTypeName": each, "description": "a test's own"})
        tag = {"tagName": each, "tagTypeName": each, "description": "a test's own"}
        api.ok("POST", "/tags", tag)
        api.ok("POST", "/admin/buckets", {"bucketName": OTHERS, "baseAssetsPrefix": each})
        version = {"comment": each, "useLatestFiles": True}
        api.ok("POST", f"/database/{name}/assets/{name}-0/createVersion", version)
        # A folder that cannot be an asset: its name has a character that ids may not have.
        s3.put_object(Bucket=api.own_bucket()["bucketName"], Key=f"{each}:bad/x", Body=b"x")
    runtime.drain()
    return name


@pytest.mark.parametrize("path", LISTS)
def test_pages_of_one_item_are_the_whole_list(api: Api, furnished: str, path: str) -> None:
    where = path.format(name=furnished)
    whole, more = page(api, where, LISTS[path])
    assert len(whole) >= 2
    assert more is None
    found, token = page(api, where, {**LISTS[path], "pageSize": "1"})
    sizes = [len(found)]
    while token is not None:
        items, token = page(api, where, {**LISTS[path], "pageSize": "1", "startingToken": token})
        found += items
        sizes.append(len(items))
    assert found == whole
    assert max(sizes) == 1


def page(api: Api, path: str, query: Mapping[str, str]) -> tuple[list[Any], str | None]:
    """The items of a page and the token of the next one; some lists stand within `message`."""
    reply = api.ok("GET", path, params=query)
    told = reply.get("message", reply)
    return told["versions"] if "versions" in told else told["Items"], told.get("NextToken")
