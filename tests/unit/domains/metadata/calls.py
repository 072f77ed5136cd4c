"""Calls of the routes of metadata and attributes, and the records that they send."""

from typing import Any

from tests.factories.http import Client, Response

ASSET = "/database/{databaseId}/assets/{assetId}/metadata"
FILE = ASSET + "/file"


def send(client: Client, method: str, route: str = ASSET, **more: Any) -> Response:
    parameters = {"databaseId": "museum", "assetId": "statue", **more.pop("parameters", {})}
    return client.send(
        method,
        route.format(**parameters),
        route=f"{method} {route}",
        parameters=parameters,
        **more,
    )


def record(key: str, value: str = "v", value_type: str = "string") -> dict[str, str]:
    return {"metadataKey": key, "metadataValue": value, "metadataValueType": value_type}


def add(client: Client, *keys: str, **more: Any) -> Response:
    return send(client, "POST", body={"metadata": [record(key) for key in keys]}, **more)


def add_to_file(client: Client, *records: dict[str, str], **fields: str) -> Response:
    body = {"metadata": records, "filePath": "/a/b.glb", "type": "metadata", **fields}
    return send(client, "POST", FILE, body=body)


def values(client: Client, route: str = ASSET, **query: str) -> dict[str, str]:
    answer = send(client, "GET", route, query=query)
    assert answer.status == 200, answer.body
    return {r["metadataKey"]: r["metadataValue"] for r in answer.body["metadata"]}


def all_keys(client: Client, **query: str) -> list[str]:
    """The keys of all pages; a page ends early at a megabyte."""
    parameters = {"databaseId": "museum", "assetId": "statue"}
    path, route = ASSET.format(**parameters), f"GET {ASSET}"
    pages = client.pages(path, query=query, parameters=parameters, route=route)
    return [item["metadataKey"] for page in pages for item in page["metadata"]]


def on_file(kind: str = "metadata", path: str = "/a/b.glb") -> dict[str, str]:
    return {"filePath": path, "type": kind}
