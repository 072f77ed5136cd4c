"""The audit log has the callers who received bytes, URLs or exports, once an hour for streams."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.journeys.attacks.actors import ANY_ROUTE, connect, new_role, new_user
from tests.journeys.runtime import Api, Runtime, wait_until

RANGES = 300
PARAMETER = "x-vitrine-request"


def reads_of(admin: Api, database: str, asset: str) -> dict[str, list[dict[str, Any]]]:
    """The reads of an asset, by their operations."""
    found: dict[str, list[dict[str, Any]]] = {}
    query = {"entity": f"read:asset:{database}:{asset}"}
    for entry in admin.ok("GET", "/audit", params=query)["Items"]:
        found.setdefault(entry["operation"], []).append(entry)
    return found


def request_of(url: str) -> str:
    (found,) = parse_qs(urlsplit(url).query)[PARAMETER]
    return found


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
        found = reads_of(admin, database, asset)
        return {name: [e for e in each if e["userId"] == user] for name, each in found.items()}

    wait_until(lambda: {name for name, each in own().items() if each} == operations)
    found = own()
    # Two if the hour has changed meanwhile.
    assert len({entry["at"] for entry in found["stream_file"]}) == len(found["stream_file"]) <= 2
    streamed = found["stream_file"][0]["read"]
    assert (streamed["files"], streamed["urls"]) == (["/a.bin"], False)
    for operation, url in (("get_download_url", download), ("initialise_upload", part)):
        (entry,) = found[operation]
        assert entry["read"]["requestId"] == request_of(url)
        assert entry["read"]["urls"]
        assert "X-Amz-Signature" not in str(entry)
    assert found["initialise_upload"][0]["read"]["files"] == ["/b.bin"]
    assert found["export_assets"][0]["read"]["files"] == ["/a.bin"]
    query = {"entity": f"read:asset:{database}:{asset}"}
    assert reader.refused("GET", "/audit", params=query)[0] == 403
