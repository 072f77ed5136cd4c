"""Attackers read no cursors, exports, folders and addresses of others; the log has readers."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest

from tests.journeys.attacks.actors import (
    ANY_ROUTE,
    Rule,
    connect,
    give_rule,
    new_role,
    new_user,
    permissions,
    unique,
)
from tests.journeys.runtime import Api, Runtime, wait_until
from tests.journeys.test_bucket_sync import OTHERS, own_bucket, s3
from tests.journeys.test_links import link

RANGES = 300
PARAMETER = "x-vitrine-request"


def reads_of(admin: Api, database: str, asset: str) -> dict[str, list[dict[str, Any]]]:
    """The reads of an asset, by their operations."""
    result: dict[str, list[dict[str, Any]]] = {}
    query = {"entity": f"read:asset:{database}:{asset}"}
    for entry in admin.ok("GET", "/audit", params=query)["Items"]:
        result.setdefault(entry["operation"], []).append(entry)
    return result


def request_of(url: str) -> str:
    (item,) = parse_qs(urlsplit(url).query)[PARAMETER]
    return item


def check_signed(send: str, url: str, body: bytes | None = None) -> None:
    """The URL works unchanged, and with no other request's id, nor without one."""
    another = url.replace(f"{PARAMETER}=", f"{PARAMETER}=0")
    named = f"{PARAMETER}={request_of(url)}"
    none = url.replace(f"?{named}&", "?").replace(f"&{named}", "")
    assert len({url, another, none}) == 3
    for changed in (another, none):
        assert httpx.request(send, changed, content=body).status_code == 403
    assert httpx.request(send, url, content=body).status_code == 200


def read_in_every_way(reader: Api, database: str, asset: str) -> tuple[str, str]:
    """Stream, download, export and begin an upload; return the URLs of a file and of a part."""
    of_asset = f"/database/{database}/assets/{asset}"
    for first in range(RANGES):
        span = {"Range": f"bytes={first % 10}-{first % 10}"}
        answer = reader.send("GET", f"{of_asset}/download/stream/a.bin", headers=span)
        assert answer.status_code == 206
    wanted = {"downloadType": "assetFile", "key": "/a.bin"}
    download = reader.ok("POST", f"{of_asset}/download", wanted)["downloadUrl"]
    reader.ok("POST", f"{of_asset}/export", {"generatePresignedUrls": True})
    scope = {"databaseId": database, "assetId": asset, "uploadType": "assetFile"}
    file = {"relativeKey": "/b.bin", "file_size": 4, "num_parts": 1}
    begun = reader.ok("POST", "/uploads", {**scope, "files": [file]})
    return download, begun["files"][0]["partUploadUrls"][0]["UploadUrl"]


def test_every_read_is_entered_and_presigned_urls_name_their_request(
    runtime: Runtime, database: str
) -> None:
    admin = runtime.client()
    role = new_role(admin, ANY_ROUTE, ("asset", "databaseId", "equals", database))
    user = new_user(admin, role)
    reader = connect(runtime, user)
    asset = admin.new_asset(database, "Statue")
    admin.upload(database, asset, {"/a.bin": [b"0123456789"]})
    of_asset = f"/database/{database}/assets/{asset}"
    wait_until(lambda: reader.send("GET", of_asset).status_code == 200)

    download, part = read_in_every_way(reader, database, asset)
    check_signed("GET", download)
    check_signed("PUT", part, b"glTF")
    operations = {"stream_file", "get_download_url", "export_assets", "initialise_upload"}

    def own() -> dict[str, list[dict[str, Any]]]:
        reads = reads_of(admin, database, asset)
        return {name: [e for e in item if e["userId"] == user] for name, item in reads.items()}

    wait_until(lambda: {name for name, item in own().items() if item} == operations)
    result = own()
    # Two if the hour has changed meanwhile.
    assert len({entry["at"] for entry in result["stream_file"]}) == len(result["stream_file"]) <= 2
    streamed = result["stream_file"][0]["read"]
    assert (streamed["files"], streamed["urls"]) == (["/a.bin"], False)
    for operation, url in (("get_download_url", download), ("initialise_upload", part)):
        (entry,) = result[operation]
        assert entry["read"]["requestId"] == request_of(url)
        assert entry["read"]["urls"]
        assert "X-Amz-Signature" not in str(entry)
    assert result["initialise_upload"][0]["read"]["files"] == ["/b.bin"]
    assert result["export_assets"][0]["read"]["files"] == ["/a.bin"]
    query = {"entity": f"read:asset:{database}:{asset}"}
    assert reader.refused("GET", "/audit", params=query)[0] == 403


MAX_OPEN = 10
ASSETS = 3


@pytest.fixture
def page(api: Api, database: str) -> dict[str, Any]:
    """The first page of a search that has two more."""
    for number in range(ASSETS):
        api.new_asset(database, f"pump {number}")
    wait_until(lambda: len(api.search(databaseId=database)) == ASSETS)
    term = {"query_string": {"query": f'str_databaseid:"{database}"'}}
    return {"filters": [term], "aggregations": False, "size": 1, "after": ""}


def new_searcher(runtime: Runtime, api: Api) -> Api:
    """A client with the key of a separate user, who sees every asset."""
    role = new_role(api, ANY_ROUTE, ("asset", "databaseId", "contains", ".*"))
    return connect(runtime, new_user(api, role))


def opened(client: Api, page: dict[str, Any]) -> str:
    return client.ok("POST", "/search", page)["after"]


def test_the_eleventh_cursor_closes_the_oldest_whose_next_page_is_refused(
    runtime: Runtime, api: Api, page: dict[str, Any]
) -> None:
    user, other = new_searcher(runtime, api), new_searcher(runtime, api)
    others = opened(other, page)
    cursors = [opened(user, page) for _ in range(MAX_OPEN + 3)]
    for cursor in cursors[:-MAX_OPEN]:
        status, error = user.refused("POST", "/search", {**page, "after": cursor})
        assert (status, error["code"], error["errors"][0]["field"]) == (
            410,
            "CursorClosed",
            "after",
        )
    for client, cursor in ((user, cursors[-MAX_OPEN]), (user, cursors[-1]), (other, others)):
        assert len(client.ok("POST", "/search", {**page, "after": cursor})["hits"]["hits"]) == 1
    assert opened(other, page)


def test_a_list_that_was_read_to_its_end_takes_no_place(
    runtime: Runtime, api: Api, page: dict[str, Any]
) -> None:
    user = new_searcher(runtime, api)
    kept = opened(user, page)
    for _ in range(MAX_OPEN + 2):
        assert "after" not in user.ok("POST", "/search", {**page, "size": ASSETS})
    assert user.ok("POST", "/search", {**page, "after": kept})["after"]


def test_an_export_counts_hidden_assets_and_names_none(runtime: Runtime, database: str) -> None:
    admin = runtime.client()
    root = admin.new_asset(database, "root")
    shown = admin.new_asset(database, "shown")
    hidden = admin.new_asset(database, "hidden", assetId=f"hidden-{uuid4().hex[:8]}")
    link(admin, database, root, shown)
    secret = link(admin, database, root, hidden)
    role = new_role(admin, ANY_ROUTE, ("asset", "databaseId", "equals", database))
    rule = ("asset", "assetName", "equals", "hidden")
    give_rule(admin, rule, groupPermissions=permissions("groupId", role, "deny"))
    reader = connect(runtime, new_user(admin, role))

    path = f"/database/{database}/assets/{root}/export"
    named = admin.ok("POST", path, {})
    reply = reader.ok("POST", path, {"fetchEntireChildrenSubtrees": True})
    assert [asset["assetid"] for asset in reply["assets"]] == [root, shown]
    assert [relationship["childAssetId"] for relationship in reply["relationships"]] == [shown]
    assert (reply["totalAssetsInTree"], reply["unauthorizedAssetCount"]) == (2, 1)
    for text in (hidden, secret):
        assert text in json.dumps(named)
        assert text not in json.dumps(reply)


__all__ = ["s3"]


def user_with(runtime: Runtime, *rules: Rule) -> Api:
    admin = runtime.client()
    return connect(runtime, new_user(admin, new_role(admin, ANY_ROUTE, *rules)))


def test_a_folder_is_adopted_by_a_right_to_its_bucket_alone(runtime: Runtime, s3: Any) -> None:
    own_bucket(s3)
    admin = runtime.client()
    base = unique("attack")
    s3.put_object(Bucket=OTHERS, Key=f"{base}/payroll/salaries.csv", Body=b"secret")
    # If the bucket were registered before the event arrives, the event would create the asset.
    runtime.drain()
    record = admin.ok("POST", "/admin/buckets", {"bucketName": OTHERS, "baseAssetsPrefix": base})
    bucket_id = record["bucketId"]
    made = {"databaseId": base, "description": "made by a test", "defaultBucketId": bucket_id}
    admin.ok("POST", "/database", made)
    own = ("asset", "databaseId", "equals", base)
    attacker = user_with(runtime, own, ("bucket", "bucketId", "equals", unique("another")))
    body = {
        "databaseId": base,
        "assetName": "Mine",
        "description": "made by a test",
        "isDistributable": True,
    }
    for key in ("payroll", "nothing"):
        status, reply = attacker.refused("POST", "/assets", {**body, "bucketExistingKey": key})
        assert (status, reply["code"]) == (403, "PermissionDenied")
    assert attacker.refused("POST", f"/admin/buckets/{bucket_id}/import")[0] == 403
    assert attacker.new_asset(base, "A folder of its own")
    keeper = user_with(runtime, own, ("bucket", "bucketId", "equals", bucket_id))
    assert keeper.new_asset(base, "Payroll", bucketExistingKey="payroll")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "192.0.2.77"},
        {"Forwarded": "for=192.0.2.77"},
        {"X-Real-IP": "192.0.2.77"},
    ],
    ids=lambda headers: next(iter(headers)),
)
def test_the_gateway_believes_the_connection_and_no_header(
    runtime: Runtime, headers: dict[str, str]
) -> None:
    key = f"vams_{next(iter(headers)):x<60}"
    before = len(_refusals(runtime))
    answer = runtime.client(key).send("GET", "/secure-config", headers=headers)
    assert answer.status_code == 403
    wait_until(lambda: len(_refusals(runtime)) > before)
    assert "127.0.0.1" in {refusal["sourceIp"] for refusal in _refusals(runtime)[before:]}
    assert "192.0.2.77" not in {refusal["sourceIp"] for refusal in _refusals(runtime)}


def _refusals(runtime: Runtime) -> list[dict[str, Any]]:
    """Return the authorizer's log entries about callers that it refused."""
    logs = sorted((runtime.state / "logs" / "functions").glob("*uthorizer*"))
    lines = (line for log in logs for line in Path(log).read_text().splitlines())
    return [json.loads(line) for line in lines if '"a caller was refused"' in line]
