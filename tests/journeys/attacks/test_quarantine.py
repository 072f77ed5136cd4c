"""A file with a threat can be listed and deleted, and no route returns its content.

It takes over 20 seconds: scan results arrive by a queue, and every route is called before and
after.
"""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from PIL import Image

from tests.factories.quarantine import scan_event
from tests.journeys.attacks.actors import unique
from tests.journeys.replaying import SESSION
from tests.journeys.runtime import Api, Runtime

REFUSED = (409, "FileQuarantined")


def send_events(runtime: Runtime, *events: dict[str, Any]) -> None:
    """Send events to the queue of GuardDuty's results, and wait until they are processed."""
    url = runtime.admin("GET", "/health")["engines"]["queues"]["url"]
    sqs: Any = SESSION.client("sqs", endpoint_url=url)
    queues = sqs.list_queues().get("QueueUrls", [])
    (queue,) = (item for item in queues if "ScanResults" in item and "DeadLetters" not in item)
    for event in events:
        sqs.send_message(QueueUrl=queue, MessageBody=json.dumps(event))
    runtime.drain()


def now(seconds: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def refused(api: Api, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, str]:
    status, reply = api.refused(method, path, body, **more)
    return status, reply["code"]


def test_a_file_with_malware_is_kept_and_never_served(runtime: Runtime) -> None:
    api = runtime.client()
    database = api.new_database(unique("scans"))
    asset = api.new_asset(database, "Pump")
    path = f"/database/{database}/assets/{asset}"
    api.upload(database, asset, {"/pump.glb": [b"glTF" + bytes(60)]})
    clean = _info(api, path)["versionId"]
    assert _info(api, path)["isQuarantined"] is False
    api.upload(database, asset, {"/pump.glb": [b"glTF" + b"malware" * 9]})
    bucket = api.own_bucket()["bucketName"]
    bad = _info(api, path)["versionId"]
    assert bad != clean
    event = scan_event(f"{asset}/pump.glb", bad, bucket=bucket, time=now())
    strangers = scan_event(f"{asset}/pump.glb", clean, bucket="somebody-elses", time=now())
    send_events(runtime, event, event, strangers)

    wanted = {"downloadType": "assetFile", "key": "/pump.glb"}
    assert refused(api, "POST", f"{path}/download", wanted) == REFUSED
    stream = f"{path}/download/stream/pump.glb"
    assert refused(api, "GET", stream) == REFUSED
    for verb in ("moveFile", "copyFile"):
        body = {"sourcePath": "/pump.glb", "destinationPath": "/other.glb"}
        assert refused(api, "POST", f"{path}/{verb}", body) == REFUSED
    exported = api.ok("POST", f"{path}/export", {"generatePresignedUrls": True})
    (result,) = exported["assets"][0]["files"]
    assert (result["isQuarantined"], result["presignedFileDownloadUrl"]) == (True, None)
    (row,) = api.ok("GET", f"{path}/listFiles")["items"]
    assert (row["relativePath"], row["isQuarantined"]) == ("/pump.glb", True)
    (entry,) = _entries(api, database, asset)
    assert entry["userId"] == "SYSTEM"

    assert api.ok("POST", f"{path}/download", {**wanted, "versionId": clean})["downloadUrl"]
    api.completed("POST", f"{path}/revertFileVersion/{clean}", {"filePath": "/pump.glb"})
    assert api.send("GET", stream).status_code == 200
    body = {"filePath": "/pump.glb", "confirmPermanentDelete": True}
    api.completed("DELETE", f"{path}/deleteFile", body)
    # The same result again, for a deleted object.
    send_events(runtime, event)
    assert api.ok("GET", f"{path}/listFiles")["items"] == []


def test_an_asset_shows_no_picture_of_a_quarantined_file(runtime: Runtime) -> None:
    api = runtime.client()
    database = api.new_database(unique("pictures"), processing=True)
    asset = api.new_asset(database, "Views")
    path = f"/database/{database}/assets/{asset}"
    # Of two pictures the larger file is shown.
    files = {"/red.png": [_png("red", 300)], "/blue.png": [_png("blue", 30)]}
    api.upload(database, asset, files)
    runtime.drain()
    assert _shown(api, path) == "red"
    bucket = api.own_bucket()["bucketName"]
    versions = {
        item["relativePath"]: item["versionId"]
        for item in api.ok("GET", f"{path}/listFiles")["items"]
    }

    def scan(name: str, status: str, second: int) -> None:
        version = versions[f"/{name}.png"]
        event = scan_event(f"{asset}/{name}.png", version, status, bucket=bucket, time=now(second))
        send_events(runtime, event)

    scan("red", "THREATS_FOUND", 0)
    assert _shown(api, path) == "blue"
    ids = {"databaseId": database, "assetId": asset}
    named = {"items": [{**ids, "key": f"/{name}.png"} for name in ("red", "blue")]}
    red, blue = api.ok("POST", "/previews", named)["items"]
    assert (red["previewMissing"]["reason"], "preview" in blue) == ("quarantined", True)
    wanted = {"downloadType": "assetFile", "key": "/red.png.previewFile.png"}
    assert refused(api, "POST", f"{path}/download", wanted) == REFUSED
    scan("blue", "THREATS_FOUND", 0)
    assert _shown(api, path) is None
    scan("red", "NO_THREATS_FOUND", 5)
    assert _shown(api, path) == "red"


def _png(color: str, pixels: int) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (pixels, pixels), color).save(written, "PNG")
    return written.getvalue()


def _shown(api: Api, path: str) -> str | None:
    """The colour of the asset's picture."""
    if api.ok("GET", path).get("previewLocation") is None:
        return None
    link = api.ok("POST", f"{path}/download", {"downloadType": "assetPreview"})
    content = httpx.get(link["downloadUrl"], timeout=20).content
    with Image.open(io.BytesIO(content)) as picture:
        red, _, blue = picture.convert("RGB").resize((1, 1)).tobytes()
    return "red" if red > blue else "blue"


def _info(api: Api, path: str) -> dict[str, Any]:
    return api.ok("GET", f"{path}/fileInfo", params={"filePath": "/pump.glb"})


def _entries(api: Api, database: str, asset: str) -> list[dict[str, Any]]:
    params = {"entity": f"file:{database}:{asset}:/pump.glb"}
    reply = api.ok("GET", "/audit", params=params)
    return [item for item in reply["Items"] if item["operation"] == "quarantine_file"]
