"""Reading and listing assets: the archived ones, pages, and who sees them."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest

from backend.aws.clients import dynamodb
from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.authorization import Action, Secured
from backend.core.identity import Identity
from backend.core.paging import json_bytes
from backend.domains.assets.routes import build_router
from backend.domains.assets.service.commands import AssetService
from backend.domains.buckets.service import BucketService
from benchmarks.metering import metered
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database
from tests.factories.http import Client
from tests.unit.domains.assets.calls import archive, create, listed, one


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables whose requests are counted."""
    return dynamo_tables


def test_an_archived_asset_is_returned_only_on_request(
    client: Client, service: AssetService, tables: DynamoTables
) -> None:
    archive(tables, created_asset(service, "sold"))
    created_asset(service, "kept")
    assert one(client, "sold").status == 404
    body = one(client, "sold", query={"showArchived": "true"}).body
    assert (body["status"], body["databaseId"]) == ("archived", "museum")
    assert (body["archivedBy"], body["archivedReason"]) == ("admin", "sold")
    assert one(client, "kept", query={"showArchived": "true"}).body["status"] == "active"
    assert one(client, "sold", method="PUT", body={"assetName": "x"}).status == 404
    assert listed(client) == ["kept"]
    assert listed(client, showArchived="true") == ["kept", "sold"]
    assert listed(client, None, showArchived="true") == ["kept", "sold"]


@pytest.mark.parametrize("size", ["1", "2", "3", "100"])
def test_archived_assets_follow_the_active_ones_page_by_page(
    client: Client, service: AssetService, tables: DynamoTables, size: str
) -> None:
    for name in ("b-kept", "d-kept"):
        created_asset(service, name)
    for name in ("a-sold", "c-sold"):
        archive(tables, created_asset(service, name))
    everything = ["b-kept", "d-kept", "a-sold", "c-sold"]
    assert listed(client, showArchived="true", pageSize=size) == everything
    assert listed(client, None, showArchived="true", pageSize=size) == everything
    assert listed(client, showArchived="false", pageSize=size) == ["b-kept", "d-kept"]


def deleted_database(
    service: AssetService, tables: DynamoTables, database_id: str, *asset_ids: str
) -> None:
    """A database whose assets were archived before it was deleted."""
    created_database(service, database_id)
    for asset_id in asset_ids:
        archive(tables, created_asset(service, asset_id, database_id=database_id))
        tables.transact([service.databases.count_assets(database_id, asset_id, -1)])
    service.databases.delete_database(ADMIN, database_id)


def test_archived_assets_of_a_deleted_database_are_listed(
    client: Client, service: AssetService, tables: DynamoTables
) -> None:
    names = [f"sold-{number}" for number in range(3)]
    deleted_database(service, tables, "attic", *names)
    assert listed(client, "attic", showArchived="true", pageSize="2") == names
    parameters = {"databaseId": "attic"}
    active = client.send("GET", "/database/attic/assets", parameters=parameters)
    assert (active.status, active.body["code"]) == (404, "DatabaseNotFound")
    deleted_database(service, tables, "cellar")
    assert listed(client, "cellar", showArchived="true") == []
    query, parameters = {"showArchived": "true"}, {"databaseId": "none"}
    absent = client.send("GET", "/database/none/assets", parameters=parameters, query=query)
    assert (absent.status, absent.body["code"]) == (404, "DatabaseNotFound")


@pytest.mark.parametrize("size", [1, 2, 100])
def test_the_archived_assets_of_all_databases_are_listed_once(
    client: Client, service: AssetService, tables: DynamoTables, size: int
) -> None:
    """Of deleted databases too, and of one whose id was taken again."""
    archive(tables, created_asset(service, "kept"))
    for number in range(3):
        deleted_database(service, tables, f"attic-{number}", *(f"a-{number}-{n}" for n in (1, 2)))
    created_database(service, "attic-1")
    archive(tables, created_asset(service, "a-1-3", database_id="attic-1"))
    wanted = [f"a-{number}-{n}" for number in range(3) for n in (1, 2)]
    found = listed(client, None, showArchived="true", maxItems=str(size))
    assert sorted(found) == sorted([*wanted, "a-1-3", "kept"])


class OnlySoldVisible(OnlyUser):
    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        hidden = target.object_type == "asset" and target.fields["assetName"] != "sold"
        return not hidden


class AtticHidden(OnlyUser):
    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.object_type != "database" or target.fields["databaseId"] != "attic"


def test_archived_assets_of_a_deleted_database_are_listed_for_those_who_may_see_them(
    service: AssetService, tables: DynamoTables
) -> None:
    created_database(service, "attic")
    for name in ("sold", "secret"):
        asset = created_asset(service, f"a-{name}", database_id="attic", name=name)
        archive(tables, asset)
        tables.transact([service.databases.count_assets("attic", asset.asset_id, -1)])
    service.databases.delete_database(ADMIN, "attic")
    some = Client(build_router(replace(service, authorization=OnlySoldVisible())))
    assert listed(some, "attic", showArchived="true") == ["a-sold"]
    assert listed(some, None, showArchived="true") == ["a-sold"]
    databases = replace(service.databases, authorization=AtticHidden())
    none = Client(build_router(replace(service, databases=databases)))
    assert listed(none, None, showArchived="true") == []
    answer = none.send(
        "GET",
        "/database/attic/assets",
        parameters={"databaseId": "attic"},
        query={"showArchived": "true"},
    )
    assert (answer.status, answer.body["code"]) == (404, "DatabaseNotFound")


def test_lists_of_a_database_are_paged_by_id(client: Client, service: AssetService) -> None:
    ids = [f"asset-{number}" for number in range(7)]
    for asset_id in reversed(ids):
        created_asset(service, asset_id)
    assert listed(client, pageSize="3") == ids


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_list_over_all_databases_holds_each_asset_once(
    client: Client, service: AssetService, size: int
) -> None:
    wanted: list[str] = []
    for number, assets in enumerate([0, 3, 0, 1, 2, 0]):
        database_id = created_database(service, f"hall-{number}")
        for asset in range(assets):
            wanted.append(f"asset-{number}-{asset}")
            created_asset(service, wanted[-1], database_id=database_id)
    assert sorted(listed(client, None, maxItems=str(size))) == wanted


def test_the_list_over_all_databases_stops_when_its_time_is_over(
    tables: DynamoTables, objects: S3Objects, now: datetime
) -> None:
    seconds = count()
    service = asset_service(tables, objects, clock=lambda: now + timedelta(seconds=next(seconds)))
    for number in range(5):
        database_id = created_database(service, f"hall-{number}")
        created_asset(service, f"asset-{number}", database_id=database_id)
    client = Client(build_router(service))
    first = client.send("GET", "/assets").body
    assert 0 < len(first["Items"]) < 5
    assert sorted(listed(client, None)) == [f"asset-{number}" for number in range(5)]


def test_the_list_over_all_databases_stops_where_it_fills_a_reply(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        database_id = created_database(service, f"hall-{number}")
        created_asset(service, f"asset-{number}", database_id=database_id)
    size = json_bytes(service.find_asset("hall-0", "asset-0"))
    monkeypatch.setattr("backend.domains.assets.service.queries.MAX_BYTES_PER_PAGE", 2 * size)
    assert len(client.send("GET", "/assets").body["Items"]) == 2
    assert sorted(listed(client, None)) == [f"asset-{number}" for number in range(5)]


class SeesNoDatabases(OnlyUser):
    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.object_type != "database"


def test_the_list_over_all_databases_does_not_continue_in_one_that_is_hidden_now(
    client: Client, service: AssetService
) -> None:
    for number in range(2):
        created_asset(service, f"asset-{number}")
    token = client.send("GET", "/assets", query={"pageSize": "1"}).body["NextToken"]
    query = {"pageSize": "1", "startingToken": token}
    assert len(client.send("GET", "/assets", query=query).body["Items"]) == 1
    blind = replace(service, databases=replace(service.databases, authorization=SeesNoDatabases()))
    assert Client(build_router(blind)).send("GET", "/assets", query=query).body["Items"] == []


def test_a_token_of_another_database_is_refused(client: Client, service: AssetService) -> None:
    created_database(service, "archive-hall")
    for number in range(2):
        created_asset(service, f"asset-{number}")
    page = client.send(
        "GET",
        "/database/museum/assets",
        parameters={"databaseId": "museum"},
        query={"pageSize": "1"},
    )
    other = client.send(
        "GET",
        "/database/archive-hall/assets",
        parameters={"databaseId": "archive-hall"},
        query={"pageSize": "1", "startingToken": page.body["NextToken"]},
    )
    assert (other.status, other.body["errors"][0]["field"]) == (400, "startingToken")


def test_a_list_is_one_request_and_one_for_the_bucket_of_all_of_them(
    service: AssetService,
) -> None:
    for number in range(5):
        created_asset(service, f"asset-{number}")
    buckets = BucketService(service.buckets.buckets, OnlyUser())
    client = Client(build_router(replace(service, buckets=buckets)))
    for expected in ({"Query": 2}, {"Query": 1}):  # then the bucket is known
        with metered(dynamodb()) as usage:
            assert len(listed(client)) == 5
        assert usage.of("dynamodb") == expected


def test_only_the_administrator_gets_in(service: AssetService) -> None:
    created_asset(service)
    stranger = Client(build_router(service), user_id="stranger")
    assert create(stranger).status == 403
    assert one(stranger).status == 403
