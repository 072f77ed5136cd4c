"""Reading and listing assets: the archived ones, pages, and who sees them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

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
from tests.factories.lifecycle import ManualClock
from tests.unit.domains.assets.calls import archive, create, listed, one, send_list


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


class Sees(OnlyUser):
    """The caller may do everything with what `sees` returns true for."""

    def __init__(self, sees: Callable[[Secured], bool]) -> None:
        super().__init__()
        self.sees = sees

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return self.sees(target)


def deleted_database(
    service: AssetService, tables: DynamoTables, database_id: str, *asset_ids: str, **names: str
) -> None:
    """A database whose assets were archived before it was deleted."""
    created_database(service, database_id)
    for asset_id in asset_ids:
        name = names.get(asset_id, "A statue")
        asset = created_asset(service, asset_id, database_id=database_id, name=name)
        archive(tables, asset)
        tables.transact([service.databases.count_assets(database_id, asset_id, -1)])
    service.databases.delete_database(ADMIN, database_id)


def test_archived_assets_of_a_deleted_database_are_listed(
    client: Client, service: AssetService, tables: DynamoTables
) -> None:
    names = [f"sold-{number}" for number in range(3)]
    deleted_database(service, tables, "attic", *names)
    assert listed(client, "attic", showArchived="true", pageSize="2") == names
    deleted_database(service, tables, "cellar")
    assert listed(client, "cellar", showArchived="true") == []
    for absent in (send_list(client, "attic"), send_list(client, "none", showArchived="true")):
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


def test_archived_assets_of_a_deleted_database_are_listed_for_those_who_may_see_them(
    service: AssetService, tables: DynamoTables
) -> None:
    deleted_database(service, tables, "attic", "a", "b", a="sold", b="secret")
    sold = Sees(lambda it: it.object_type != "asset" or it.fields["assetName"] == "sold")
    some = Client(build_router(replace(service, authorization=sold)))
    assert listed(some, "attic", showArchived="true") == ["a"]
    assert listed(some, None, showArchived="true") == ["a"]
    hidden = Sees(lambda it: it.object_type != "database" or it.fields["databaseId"] != "attic")
    databases = replace(service.databases, authorization=hidden)
    none = Client(build_router(replace(service, databases=databases)))
    assert listed(none, None, showArchived="true") == []
    answer = send_list(none, "attic", showArchived="true")
    assert (answer.status, answer.body["code"]) == (404, "DatabaseNotFound")


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


@pytest.mark.parametrize("limit", ["time", "bytes"])
def test_the_list_over_all_databases_stops_when_its_time_is_over_or_it_fills_a_reply(
    tables: DynamoTables, objects: S3Objects, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    clock = ManualClock(tick=timedelta(seconds=limit == "time"))
    service = asset_service(tables, objects, clock=clock)
    for number in range(5):
        database_id = created_database(service, f"hall-{number}")
        created_asset(service, f"asset-{number}", database_id=database_id)
    client = Client(build_router(service))
    if limit == "bytes":
        size = json_bytes(service.find_asset("hall-0", "asset-0"))
        monkeypatch.setattr("backend.domains.assets.service.queries.MAX_BYTES_PER_PAGE", 2 * size)
    count = len(send_list(client, None).body["Items"])
    assert count == 2 if limit == "bytes" else 0 < count < 5
    assert sorted(listed(client, None)) == [f"asset-{number}" for number in range(5)]


def test_the_list_over_all_databases_does_not_continue_in_one_that_is_hidden_now(
    client: Client, service: AssetService
) -> None:
    for number in range(2):
        created_asset(service, f"asset-{number}")
    token = send_list(client, None, pageSize="1").body["NextToken"]
    query = {"pageSize": "1", "startingToken": token}
    assert len(send_list(client, None, **query).body["Items"]) == 1
    hidden = Sees(lambda target: target.object_type != "database")
    blind = replace(service, databases=replace(service.databases, authorization=hidden))
    assert send_list(Client(build_router(blind)), None, **query).body["Items"] == []
    created_database(service, "archive-hall")
    token = send_list(client, pageSize="1").body["NextToken"]
    other = send_list(client, "archive-hall", pageSize="1", startingToken=token)
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
    assert listed(client, pageSize="3") == [f"asset-{number}" for number in range(5)]


def test_only_the_administrator_gets_in(service: AssetService) -> None:
    created_asset(service)
    stranger = Client(build_router(service), user_id="stranger")
    assert create(stranger).status == 403
    assert one(stranger).status == 403
