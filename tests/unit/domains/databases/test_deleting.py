"""Deleting databases: what is refused, what stays, what can be made again."""

from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.identity import Identity
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.errors import DatabaseNotEmptyError, DatabaseNotFoundError
from backend.domains.databases.routes import build_router
from backend.domains.databases.rules import COUNT_SHARDS, count_key, count_keys
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database, no_purges
from tests.factories.http import Client, Response
from tests.factories.lifecycle import interrupt


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables whose transactions are interrupted."""
    return dynamo_tables


@pytest.fixture
def assets(tables: DynamoTables, objects: S3Objects) -> AssetService:
    service = asset_service(tables, objects)
    created_database(service)
    return service


@pytest.fixture
def client(assets: AssetService) -> Client:
    return Client(build_router(assets.databases, no_purges))


def send(
    client: Client, method: str, database_id: str = "museum", body: Any = None, **query: str
) -> Response:
    path, parameters = f"/database/{quote(database_id)}", {"databaseId": database_id}
    return client.send(method, path, parameters=parameters, query=query, body=body)


def listed(client: Client, **query: str) -> list[str]:
    pages = client.pages("/database", query=query)
    return [item["databaseId"] for page in pages for item in page["Items"]]


def gone_asset(assets: AssetService, asset_id: str) -> None:
    """Decrement the count as archiving does."""
    assets.assets.tables.transact([assets.databases.count_assets("museum", asset_id, -1)])


def test_a_database_that_was_changed_since_it_was_read_is_not_deleted(client: Client) -> None:
    place: dict[str, Any] = {"parameters": {"databaseId": "museum"}}
    for sent, status in (('"2"', 412), ('"1"', 200)):
        answer = client.send("DELETE", "/database/museum", headers={"if-match": sent}, **place)
        assert answer.status == status, answer.body
    assert listed(client) == []


def test_a_deleted_database_is_only_there_among_the_deleted(
    client: Client, assets: AssetService
) -> None:
    assert send(client, "GET", showDeleted="true").status == 404
    assert listed(client, showDeleted="true") == []
    assert "deletedAt" not in send(client, "GET").body
    answer = send(client, "DELETE")
    assert (answer.status, answer.body) == (200, {"message": "Database museum was deleted"})
    assert send(client, "DELETE").status == send(client, "GET").status == 404
    assert listed(client) == []
    assert listed(client, showDeleted="true") == ["museum"]
    reply = send(client, "GET", showDeleted="true")
    assert (reply.status, reply.body["databaseId"]) == (200, "museum")
    assert (reply.body["deletedBy"], reply.body["assetCount"]) == ("admin", 0)
    assert reply.body["deletedAt"] == "2026-03-01T12:00:00.000000Z"
    assert send(client, "PUT", body={"description": "Only the east wing"}).status == 404
    with pytest.raises(DatabaseNotFoundError):
        created_asset(assets)


def test_a_database_with_active_assets_is_not_deleted(client: Client, assets: AssetService) -> None:
    for number in range(6):
        created_asset(assets, f"statue-{number}")
    refused = send(client, "DELETE")
    assert (refused.status, refused.body["code"]) == (409, "DatabaseNotEmpty")
    assert refused.body["message"] == (
        "Database museum has 6 active assets; archive or delete them first"
    )
    assert send(client, "GET").body["assetCount"] == 6
    for number in range(5):
        gone_asset(assets, f"statue-{number}")
    assert "has 1 active asset" in send(client, "DELETE").body["message"]
    gone_asset(assets, "statue-5")
    assert send(client, "DELETE").status == 200


@pytest.mark.parametrize("wrong", ["museum#deleted", "a", "GLOBAL"])
def test_what_is_no_id_is_refused_by_name(client: Client, wrong: str) -> None:
    answer = send(client, "DELETE", wrong)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "databaseId")


def test_a_stranger_deletes_nothing(assets: AssetService) -> None:
    stranger = Client(build_router(assets.databases, no_purges), user_id="stranger")
    assert send(stranger, "DELETE").status == 403
    with pytest.raises(DatabaseNotFoundError):
        assets.databases.delete_database(Identity("stranger"), "museum")
    assert assets.databases.find_database("museum") is not None


def test_an_archived_asset_of_a_deleted_database_cannot_come_back(
    client: Client, assets: AssetService
) -> None:
    created_asset(assets)
    gone_asset(assets, "statue")
    with pytest.raises(DatabaseNotFoundError):
        gone_asset(assets, "statue")  # the count does not fall below what it counted
    send(client, "DELETE")
    with pytest.raises(DatabaseNotFoundError):
        assets.assets.tables.transact([assets.databases.count_assets("museum", "statue", 1)])


def test_the_id_of_a_deleted_database_can_be_taken_again(
    client: Client, assets: AssetService
) -> None:
    send(client, "DELETE")
    created_database(assets)
    assert send(client, "GET").body["assetCount"] == 0
    created_asset(assets)
    assert send(client, "GET").body["assetCount"] == 1
    assert send(client, "GET", showDeleted="true").status == 200  # the former one
    gone_asset(assets, "statue")
    assert send(client, "DELETE").status == 200
    assert listed(client, showDeleted="true") == ["museum"]


def test_deleted_databases_are_listed_by_page(client: Client, assets: AssetService) -> None:
    names = [f"wing-{number}" for number in range(5)]
    for name in names:
        created_database(assets, name)
        send(client, "DELETE", name)
    assert sorted(listed(client, pageSize="2", showDeleted="true")) == names


def test_assets_spread_over_all_parts_of_the_count() -> None:
    used = {count_key("museum", f"x{number}") for number in range(100)}
    assert used == set(count_keys("museum"))
    assert len(used) == COUNT_SHARDS


def test_an_asset_that_is_created_meanwhile_keeps_its_database(
    assets: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(monkeypatch, DynamoTables, "transact", lambda: created_asset(assets))
    with pytest.raises(DatabaseNotEmptyError):
        assets.databases.delete_database(ADMIN, "museum")
    assert assets.databases.describe_database(ADMIN, "museum").asset_count == 1


def test_a_database_that_is_deleted_meanwhile_gets_no_asset(
    assets: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete = partial(assets.databases.delete_database, ADMIN, "museum")
    interrupt(monkeypatch, DynamoTables, "transact", delete)
    with pytest.raises(DatabaseNotFoundError):
        created_asset(assets)
    assert assets.assets.get("museum", "statue") is None


def test_an_edit_meanwhile_is_in_the_row_of_the_deleted_database(
    assets: AssetService, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = partial(send, client, "PUT", body={"description": "Only the east wing"})
    interrupt(monkeypatch, DynamoTables, "transact", edit)
    assets.databases.delete_database(ADMIN, "museum")
    result = send(client, "GET", showDeleted="true").body
    assert result["description"] == "Only the east wing"
