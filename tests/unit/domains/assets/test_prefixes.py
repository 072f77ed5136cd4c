"""Where the objects of assets stand, and which asset owns an object."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, ClassVar

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.paging import PageRequest
from backend.core.references import AssetRef
from backend.core.transactions import Item, Key, Write
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.routes import build_router
from backend.domains.assets.service.commands import AssetService
from backend.domains.buckets.models import BucketKey
from backend.spec.tables.model import Table
from backend.spec.tables.operations import RESERVATIONS
from tests.factories.assets import asset_service, created_database
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Client
from tests.unit.domains.assets.calls import create, one, put


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables whose requests wait for each other."""
    return dynamo_tables


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
    found = service.owners(BucketKey(BUCKET_ID, key) for key in keys)
    assert {key: owner.asset_id for (_, key), owner in found.items()} == {
        "scans/hall/x/y.glb": "first",
        "statue/a.glb": "statue",
    }


def test_a_prefix_is_one_item_that_names_its_owner_or_counts_what_lies_deeper(
    client: Client, tables: DynamoTables, objects: S3Objects
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


def adopt(client: Client, objects: S3Objects, name: str) -> None:
    """Create an asset of an existing folder."""
    put(objects, f"scans/{name}/a.e57")
    answer = create(client, assetId=name, bucketExistingKey=f"scans/{name}")
    assert answer.status == 200, answer.body


def test_a_released_prefix_and_id_can_be_taken_again(
    client: Client, service: AssetService, tables: DynamoTables, objects: S3Objects
) -> None:
    for name in ("hall", "yard"):
        adopt(client, objects, name)
    for _ in range(2):  # once more changes nothing
        release(service, "hall")
    assert f"Prefix#{BUCKET_ID}#scans/hall/" not in reservations(tables)
    assert reservations(tables)[f"Prefix#{BUCKET_ID}#scans/"] == {"within": 1}
    release(service, "yard")
    assert reservations(tables) == {}
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
