"""Calls of the routes of assets, and what the tests put in place without them."""

from typing import Any
from urllib.parse import quote

from backend.aws.objects import S3Objects
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.assets.models import Asset
from backend.domains.assets.repository import row_of
from backend.spec.tables.assets import ASSETS
from tests.factories.http import Client, Response

BODY = {
    "databaseId": "museum",
    "assetName": "A statue",
    "description": "Made of marble",
    "isDistributable": True,
    "assetId": "statue",
}


def create(client: Client, **fields: object) -> Response:
    return client.send("POST", "/assets", body={**BODY, **fields})


def one(
    client: Client,
    asset_id: str = "statue",
    *,
    method: str = "GET",
    database_id: str = "museum",
    **more: Any,
) -> Response:
    return client.send(
        method,
        f"/database/{database_id}/assets/{quote(asset_id, safe='')}",
        route=f"{method} /database/{{databaseId}}/assets/{{assetId}}",
        parameters={"databaseId": database_id, "assetId": asset_id},
        **more,
    )


def send_list(client: Client, database_id: str | None = "museum", **query: str) -> Response:
    """Request a page of the assets of a database, or of all."""
    path = "/assets" if database_id is None else f"/database/{database_id}/assets"
    parameters = {} if database_id is None else {"databaseId": database_id}
    return client.send("GET", path, parameters=parameters, query=query)


def listed(client: Client, database_id: str | None = "museum", **query: str) -> list[str]:
    """The ids of all pages; without a database those of all databases."""
    path = "/assets" if database_id is None else f"/database/{database_id}/assets"
    parameters = {} if database_id is None else {"databaseId": database_id}
    pages = client.pages(path, parameters=parameters, query=query)
    return [item["assetId"] for page in pages for item in page["Items"]]


def archive(tables: Tables, asset: Asset) -> None:
    """Write the rows that archiving leaves of an asset."""
    gone = asset.model_copy(
        update={
            "status": "archived",
            "archived_at": "2026-03-02T12:00:00.000000Z",
            "archived_by": "admin",
            "archived_reason": "sold",
        }
    )
    tables.write(Put(table=ASSETS, item=row_of(gone)))
    tables.delete_many(ASSETS, [{"databaseId": asset.database_id, "assetId": asset.asset_id}])


def put(objects: S3Objects, key: str) -> None:
    objects.put("assetbucket", key, b"x", content_type="text/plain", metadata={})
