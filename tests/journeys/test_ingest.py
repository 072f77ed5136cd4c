"""Ingest over HTTP: an asset and its files in two calls, each of which may be repeated."""

from typing import Any
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime, noise, put_parts, wait_for


def test_an_asset_is_ingested_in_two_calls(runtime: Runtime, database: str) -> None:
    api = runtime.client()
    asset = f"lion-{uuid4().hex[:8]}"
    model = noise(3000, "model")
    body = _beginning(database, asset, len(model))
    _refuses(api, body)
    api.ok("POST", "/ingest-asset", body)
    begun = api.ok("POST", "/ingest-asset", body)
    assert begun["assetId"] == asset
    contents = ([model], list[bytes](), [noise(10, "preview")])
    done = [put_parts(file, parts) for file, parts in zip(begun["files"], contents, strict=True)]
    end = {
        "databaseId": database,
        "assetId": asset,
        "uploadId": begun["uploadId"],
        "files": done,
    }
    finished = api.ok("POST", "/ingest-asset", end)
    assert (finished["overallSuccess"], finished["assetType"]) == (True, "folder")
    results = [(one["relativeKey"], one["success"]) for one in finished["fileResults"]]
    assert results == [(file["relativeKey"], True) for file in body["files"]]
    assert api.ok("POST", "/ingest-asset", end) == finished

    root = f"/database/{database}/assets/{asset}"
    assert api.ok("GET", root)["assetName"] == "Lion"
    listed = api.ok("GET", f"{root}/listFiles")["items"]
    files = {one["relativePath"]: one["size"] for one in listed if not one["isFolder"]}
    assert files == {"/empty.txt": 0, "/parts/model.glb": 3000}
    assert api.send("GET", f"{root}/download/stream/parts/model.glb").content == model
    # the asset, the model and the empty file; the preview is part of the model's document
    wait_for(
        lambda: [one["str_assetname"] for one in api.search(databaseId=database)], ["Lion"] * 3
    )


def _beginning(database: str, asset: str, size: int) -> dict[str, Any]:
    """An asset of a model, an empty file, and a preview of the model."""
    sizes = {"parts/model.glb": size, "empty.txt": 0, "parts/model.glb.previewFile.png": 10}
    return {
        "databaseId": database,
        "assetId": asset,
        "assetName": "Lion",
        "description": "made by a test",
        "isDistributable": True,
        "tags": [],
        "files": [
            {"relativeKey": f"{asset}/{path}", "file_size": one, "num_parts": min(one, 1)}
            for path, one in sizes.items()
        ],
    }


def _refuses(api: Api, body: dict[str, Any]) -> None:
    """A refused ingest leaves no data."""
    blocked = [{**body["files"][0], "relativeKey": f"{body['assetId']}/a.exe"}]
    outside = [{**body["files"][0], "relativeKey": "/a.glb"}]
    for more, status in (
        ({"files": blocked}, 400),
        ({"files": outside}, 400),
        ({"tags": ["none-such"]}, 400),
        ({"databaseId": "no-such-database"}, 404),
        ({"uploadId": "y-none"}, 400),
    ):
        assert api.refused("POST", "/ingest-asset", {**body, **more})[0] == status, more
    path = f"/database/{body['databaseId']}/assets/{body['assetId']}"
    assert api.refused("GET", path)[0] == 404
