"""Reading and listing assets, for whom, and which asset owns an object."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Lock
from typing import Any, ClassVar

import pytest

from backend.aws.clients import dynamodb
from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.authorization import Action, Secured
from backend.core.identity import Identity
from backend.core.paging import PageRequest, json_bytes
from backend.core.references import AssetRef
from backend.core.transactions import Item, Key, Write
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.routes import build_router
from backend.domains.assets.service.commands import AssetService
from backend.domains.buckets.models import BucketKey
from backend.domains.buckets.service import BucketService
from backend.spec.tables.model import Table
from backend.spec.tables.operations import RESERVATIONS
from benchmarks.metering import metered
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Client
from tests.factories.lifecycle import ManualClock
from tests.unit.domains.assets.calls import archive, create, listed, one, put, send_list


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
    result = listed(client, None, showArchived="true", maxItems=str(size))
    assert sorted(result) == sorted([*wanted, "a-1-3", "kept"])


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


def test_an_existing_folder_becomes_an_asset_and_its_files_are_fanned_out_to(
    client: Client, objects: S3Objects, tables: DynamoTables
) -> None:
    put(objects, "scans/hall/a.e57")
    create(client, assetId="made-of-a-folder", bucketExistingKey="scans/hall")
    create(client, assetId="empty")
    assets = AssetRepository(tables).list_in_partition("museum", PageRequest(10)).items
    assert [asset.inherited_revision for asset in assets] == [1, 2]
    assert one(client, "made-of-a-folder").body["assetLocation"] == {"Key": "scans/hall/"}


def test_overlapping_prefixes_are_a_conflict(client: Client, objects: S3Objects) -> None:
    put(objects, "scans/hall/east/a.e57")
    assert create(client, assetId="first", bucketExistingKey="scans/hall").status == 200
    # `west` holds nothing, which is not reported
    keys = ["scans/hall", "scans", "scans/hall/east", "/scans/hall/", "scans/hall/west"]
    bodies = [{"assetId": "second", "bucketExistingKey": key} for key in keys]
    for body in (*bodies, {"assetId": "scans"}):
        answer = create(client, **body)
        assert (answer.status, answer.body["code"]) == (409, "AssetPrefixTaken"), body
        assert "first" not in answer.body["message"]


def test_keys_stand_below_the_base_prefix_of_the_bucket(
    tables: DynamoTables, objects: S3Objects
) -> None:
    service = asset_service(tables, objects, base_prefix="vault/")
    created_database(service)
    client = Client(build_router(service))
    put(objects, "vault/old/a.glb")
    create(client)
    assert one(client).body["assetLocation"] == {"Key": "vault/statue/"}
    for asset_id, key in (("one", "vault/old"), ("two", "old")):
        answer = create(client, assetId=asset_id, bucketExistingKey=key)
        assert answer.status == (200 if asset_id == "one" else 409)
    assert one(client, "one").body["assetLocation"] == {"Key": "vault/old/"}


def test_objects_are_resolved_to_the_assets_that_own_them(
    service: AssetService, objects: S3Objects, client: Client
) -> None:
    put(objects, "scans/hall/a.e57")
    create(client, assetId="first", bucketExistingKey="scans/hall")
    create(client)
    keys = ["scans/hall/x/y.glb", "statue/a.glb", "statue", "stat/a.glb", "scans/other.glb"]
    owners = service.owners(BucketKey(BUCKET_ID, key) for key in keys)
    assert {key: owner.asset_id for (_, key), owner in owners.items()} == {
        "scans/hall/x/y.glb": "first",
        "statue/a.glb": "statue",
    }


def test_a_prefix_is_one_item_that_names_its_owner_or_counts_what_lies_deeper(
    client: Client, service: AssetService, tables: DynamoTables, objects: S3Objects
) -> None:
    for name in ("hall", "yard"):
        adopt(client, objects, name)
    assert reservations(tables) == {
        "AssetId#hall": {"databaseId": "museum", "assetId": "hall"},
        "AssetId#yard": {"databaseId": "museum", "assetId": "yard"},
        f"Prefix#{BUCKET_ID}#scans/": {"within": 2},
        f"Prefix#{BUCKET_ID}#scans/hall/": {"databaseId": "museum", "assetId": "hall"},
        f"Prefix#{BUCKET_ID}#scans/yard/": {"databaseId": "museum", "assetId": "yard"},
    }
    adopt(client, objects, "hallway")  # no conflict
    release(service, "hallway")
    for _ in range(2):  # once more changes nothing
        release(service, "hall")
    assert f"Prefix#{BUCKET_ID}#scans/hall/" not in reservations(tables)
    assert reservations(tables)[f"Prefix#{BUCKET_ID}#scans/"] == {"within": 1}
    release(service, "yard")
    assert reservations(tables) == {}


def adopt(client: Client, objects: S3Objects, name: str) -> None:
    """Create an asset of an existing folder."""
    put(objects, f"scans/{name}/a.e57")
    answer = create(client, assetId=name, bucketExistingKey=f"scans/{name}")
    assert answer.status == 200, answer.body


def test_a_released_prefix_and_id_can_be_taken_again(
    client: Client, service: AssetService, tables: DynamoTables, objects: S3Objects
) -> None:
    create(client, assetId="scans")
    release(service, "scans", database_id="elsewhere")  # not its owner
    assert reservations(tables)["AssetId#scans"]["databaseId"] == "museum"
    release(service, "scans")
    names = [f"hall-{number}" for number in range(8)]
    for name in names:
        adopt(client, objects, name)
    steady = replace(service, assets=AssetRepository(OneAtATime(tables.client, tables.settings)))
    with ThreadPoolExecutor(4) as pool:  # neighbours that are released at once leave no count
        list(pool.map(partial(release, steady), names))
    assert reservations(tables) == {}


class OneAtATime(DynamoTables):
    """Tables for several threads: moto in the same process serves one request at a time."""

    _lock: ClassVar[Lock] = Lock()

    def get_many(
        self, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        with self._lock:
            return DynamoTables.get_many(self, wanted, consistent=consistent)

    def transact(self, writes: Sequence[Write]) -> None:
        with self._lock:
            DynamoTables.transact(self, writes)


def release(service: AssetService, asset_id: str, *, database_id: str = "museum") -> None:
    base = "" if asset_id == "scans" else "scans/"
    service.assets.release(
        AssetRef(database_id=database_id, asset_id=asset_id),
        bucket_id=BUCKET_ID,
        prefix=f"{base}{asset_id}/",
        ancestors=(base,) if base else (),
    )


def reservations(tables: DynamoTables) -> dict[str, dict[str, Any]]:
    """The reservations of ids and prefixes, without their keys."""
    rows = tables.scan(RESERVATIONS, PageRequest(1000)).items
    return {
        item.pop("reservationKey"): item
        for item in rows
        if not item["reservationKey"].startswith("AssetCount#")
    }
