"""Assets: their rules and routes, over tables and objects in memory."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import quote

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.identity import Identity
from backend.core.transactions import Put
from backend.domains.assets.models import Asset, UpdateAssetBody
from backend.domains.assets.repository import AssetNotFoundError, AssetRepository, row_of
from backend.domains.assets.routes import build_router
from backend.domains.assets.service import AssetService
from backend.spec.tables.assets import ASSET_VERSIONS, ASSETS
from backend.spec.tables.operations import RESERVATIONS
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Answer, Client

BODY = {
    "databaseId": "museum",
    "assetName": "A statue",
    "description": "Made of marble",
    "isDistributable": True,
    "assetId": "statue",
}


@pytest.fixture
def service(tables: DynamoTables, objects: S3Objects, now: datetime) -> AssetService:
    service = asset_service(tables, objects, clock=lambda: now)
    created_database(service)
    return service


@pytest.fixture
def client(service: AssetService) -> Client:
    return Client(build_router(service))


def create(client: Client, **fields: object) -> Answer:
    return client.send("POST", "/assets", body={**BODY, **fields})


def one(
    client: Client,
    asset_id: str = "statue",
    *,
    method: str = "GET",
    database_id: str = "museum",
    **more: Any,
) -> Answer:
    return client.send(
        method,
        f"/database/{database_id}/assets/{quote(asset_id, safe='')}",
        route=f"{method} /database/{{databaseId}}/assets/{{assetId}}",
        parameters={"databaseId": database_id, "assetId": asset_id},
        **more,
    )


def listed(client: Client, database_id: str | None = "museum", **query: str) -> list[str]:
    """The ids of all pages; without a database those of all databases."""
    path = "/assets" if database_id is None else f"/database/{database_id}/assets"
    parameters = {} if database_id is None else {"databaseId": database_id}
    found: list[str] = []
    while True:
        page = client.send("GET", path, parameters=parameters, query=query)
        assert page.status == 200, page.body
        found += [item["assetId"] for item in page.body["Items"]]
        if "NextToken" not in page.body:
            return found
        query = {**query, "startingToken": page.body["NextToken"]}


def archive(tables: DynamoTables, asset: Asset) -> None:
    """What archiving leaves of an asset, written directly."""
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


def reserved(tables: DynamoTables, key: str) -> dict[str, Any] | None:
    return tables.get(RESERVATIONS, {"reservationKey": key})


def test_a_created_asset_can_be_read(client: Client) -> None:
    created = create(client, tags=["red", "large"])
    assert (created.status, created.body["assetId"]) == (200, "statue")
    found = one(client)
    assert found.body == {
        "databaseId": "museum",
        "assetId": "statue",
        "assetName": "A statue",
        "description": "Made of marble",
        "isDistributable": True,
        "tags": ["red", "large"],
        "assetType": "none",
        "status": "active",
        "bucketId": BUCKET_ID,
        "bucketName": "assetbucket",
        "currentVersion": {
            "Version": "0",
            "DateModified": "2026-03-01T12:00:00.000000Z",
            "Comment": "The asset was created",
            "description": "Made of marble",
            "createdBy": "admin",
            "versionAlias": "",
        },
        "assetLocation": {"Key": "statue/"},
    }
    assert found.headers["ETag"] == '"1"' == created.headers["ETag"]


def test_creating_writes_the_first_version_the_reservations_and_the_count(
    client: Client, service: AssetService, tables: DynamoTables
) -> None:
    create(client)
    version = tables.get(
        ASSET_VERSIONS, {"databaseId:assetId": "museum:statue", "assetVersionId": "0"}
    )
    assert version is not None
    assert (version["isCurrentVersion"], version["createdBy"]) == (True, "admin")
    owner = {"databaseId": "museum", "assetId": "statue"}
    for key in ("AssetId#statue", f"Prefix#{BUCKET_ID}#statue/"):
        assert reserved(tables, key) == {"reservationKey": key, **owner}
    database = service.databases.find_database("museum")
    assert database is not None
    assert database.asset_count == 1


def test_without_an_id_one_is_made(client: Client) -> None:
    asset_id = create(client, assetId=None).body["assetId"]
    assert (asset_id[0], len(asset_id)) == ("x", 37)
    assert one(client, asset_id).status == 200


def test_an_id_is_unique_over_all_databases_and_its_owner_is_not_told(
    client: Client, service: AssetService, tables: DynamoTables
) -> None:
    created_database(service, "archive-hall")
    create(client)
    again = create(client, databaseId="archive-hall")
    assert (again.status, again.body["code"]) == (409, "AssetIdTaken")
    assert "museum" not in again.body["message"]
    assert listed(client, "archive-hall") == []
    database = service.databases.find_database("archive-hall")
    assert database is not None
    assert database.asset_count == 0


def test_the_id_of_an_archived_asset_stays_taken(
    client: Client, service: AssetService, tables: DynamoTables
) -> None:
    archive(tables, created_asset(service))
    assert create(client).status == 409


def test_an_absent_database_is_not_found(client: Client) -> None:
    answer = create(client, databaseId="nowhere")
    assert (answer.status, answer.body["code"]) == (404, "DatabaseNotFound")
    missing = client.send("GET", "/database/nowhere/assets", parameters={"databaseId": "nowhere"})
    assert missing.status == 404


WRONG_FIELDS: list[tuple[str, object]] = [
    ("databaseId", "a#b"),
    ("databaseId", "GLOBAL"),
    ("databaseId", None),
    ("assetId", ""),
    ("assetId", "a#b"),
    ("assetId", "a:b"),
    ("assetId", "a/b"),
    ("assetId", "a\u0007b"),
    ("assetId", "x" * 256),
    ("assetId", "cafe\u0301"),
    ("assetId", ".."),
    ("assetId", "previews"),
    ("assetId", "temp-uploads"),
    ("assetId", "\U00010400" * 255),
    ("assetId", 7),
    ("assetName", ""),
    ("assetName", "a/b"),
    ("assetName", "x" * 256),
    ("assetName", "tab\there"),
    ("description", "abc"),
    ("description", "x" * 257),
    ("description", None),
    ("isDistributable", "true"),
    ("isDistributable", 1),
    ("isDistributable", None),
    ("tags", "red"),
    ("tags", ["green"]),
    ("tags", ["red", "red"]),
    ("tags", [f"tag {number}" for number in range(51)]),
    ("tags.0", ["a:b"]),
    ("tags.1", ["red", 7]),
    ("bucketExistingKey", 7),
    ("bucketExistingKey", "/"),
    ("bucketExistingKey", "a//b"),
    ("bucketExistingKey", "a/../b"),
    ("bucketExistingKey", "previews/a"),
    ("bucketExistingKey", "a/" * 17),
    ("bucketExistingKey", f"{'x' * 200}/" * 5),
    ("bucketExistingKey", "nothing/is/here/"),
]


def test_a_wrong_field_is_refused_by_name(client: Client) -> None:
    for field, value in WRONG_FIELDS:
        answer = client.send("POST", "/assets", body={**BODY, field.split(".")[0]: value})
        assert answer.status == 400, (field, value, answer.body)
        assert [error["field"] for error in answer.body["errors"]] == [field], (field, value)
    assert listed(client) == []


def test_the_longest_id_of_three_byte_characters_fits(client: Client) -> None:
    asset_id = "像" * 255
    assert create(client, assetId=asset_id).status == 200
    assert one(client, asset_id).body["assetLocation"] == {"Key": f"{asset_id}/"}


def test_an_existing_folder_becomes_an_asset(client: Client, objects: S3Objects) -> None:
    put(objects, "scans/hall/a.e57")
    assert create(client, bucketExistingKey="scans/hall").status == 200
    assert one(client).body["assetLocation"] == {"Key": "scans/hall/"}


@pytest.mark.parametrize("second", ["scans/hall", "scans", "scans/hall/east", "/scans/hall/"])
def test_overlapping_prefixes_are_a_conflict(
    client: Client, objects: S3Objects, second: str
) -> None:
    put(objects, "scans/hall/east/a.e57")
    assert create(client, assetId="first", bucketExistingKey="scans/hall").status == 200
    answer = create(client, assetId="second", bucketExistingKey=second)
    assert (answer.status, answer.body["code"]) == (409, "AssetPrefixTaken")
    assert "first" not in answer.body["message"]


def test_an_id_whose_prefix_holds_other_assets_is_a_conflict(
    client: Client, objects: S3Objects
) -> None:
    put(objects, "scans/hall/a.e57")
    create(client, assetId="first", bucketExistingKey="scans/hall")
    assert create(client, assetId="scans").body["code"] == "AssetPrefixTaken"


def test_neighbours_in_one_folder_are_no_conflict(client: Client, objects: S3Objects) -> None:
    for name in ("scans/hall/a.e57", "scans/hallway/a.e57", "scans/yard/a.e57"):
        put(objects, name)
        key = name.rsplit("/", 1)[0]
        answer = create(client, assetId=key.replace("/", "-"), bucketExistingKey=key)
        assert answer.status == 200, answer.body


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
    found = service.owners((BUCKET_ID, key) for key in keys)
    assert {key: owner.asset_id for (_, key), owner in found.items()} == {
        "scans/hall/x/y.glb": "first",
        "statue/a.glb": "statue",
    }


def test_an_update_changes_only_what_it_names(client: Client, tables: DynamoTables) -> None:
    create(client, tags=["red"])
    before = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    answer = one(client, method="PUT", body={"description": "Made of bronze"})
    assert answer.status == 200
    assert answer.body == {
        "success": True,
        "message": "Asset statue was changed",
        "assetId": "statue",
        "operation": "update",
        "timestamp": "2026-03-01T12:00:00.000000Z",
    }
    after = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    assert before is not None
    assert after == {**before, "description": "Made of bronze", "revision": 2}
    assert one(client).headers["ETag"] == '"2"' == answer.headers["ETag"]


@pytest.mark.parametrize(
    ("body", "inherited"),
    [
        ({"assetName": "A bust"}, 2),
        ({"tags": ["blue"]}, 2),
        ({"tags": []}, 2),
        ({"tags": ["red"], "assetName": "A statue"}, 1),
        ({"isDistributable": False}, 1),
    ],
)
def test_files_inherit_a_changed_name_and_changed_tags_only(
    client: Client, tables: DynamoTables, body: dict[str, object], inherited: int
) -> None:
    create(client, tags=["red"])
    assert one(client, method="PUT", body=body).status == 200
    row = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    assert row is not None
    assert row["inheritedRevision"] == inherited


def test_an_update_to_what_is_there_writes_nothing(client: Client) -> None:
    create(client)
    answer = one(client, method="PUT", body={"assetName": "A statue"})
    assert (answer.status, answer.headers["ETag"]) == (200, '"1"')


@pytest.mark.parametrize("body", [{}, {"tags": ["green"]}, {"assetName": ""}, {"tags": [1]}])
def test_a_wrong_update_is_refused(client: Client, body: dict[str, object]) -> None:
    create(client)
    assert one(client, method="PUT", body=body).status == 400


def test_a_stale_if_match_is_refused(client: Client) -> None:
    create(client)
    first = {"if-match": '"1"'}
    assert one(client, method="PUT", body={"assetName": "two"}, headers=first).status == 200
    stale = one(client, method="PUT", body={"assetName": "three"}, headers=first)
    assert (stale.status, stale.body["code"]) == (412, "AssetRevisionConflict")
    assert one(client).body["assetName"] == "two"


def test_an_if_match_that_is_overtaken_during_the_write_is_refused(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    overtake(service, monkeypatch, times=1)
    stale = one(client, method="PUT", body={"assetName": "mine"}, headers={"if-match": '"1"'})
    assert stale.status == 412


def test_edits_of_different_fields_at_the_same_time_both_survive(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    overtake(service, monkeypatch, times=3)
    assert one(client, method="PUT", body={"assetName": "mine"}).status == 200
    found = one(client).body
    assert (found["assetName"], found["description"]) == ("mine", "by another, 3 times")


def test_an_edit_that_is_always_overtaken_gives_up(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(client)
    overtake(service, monkeypatch, times=100)
    assert one(client, method="PUT", body={"assetName": "mine"}).status == 412


def test_an_absent_asset_is_not_found(client: Client) -> None:
    assert one(client).body["code"] == "AssetNotFound"
    assert one(client, method="PUT", body={"assetName": "x"}).status == 404


def test_an_archived_asset_is_read_only_if_it_is_asked_for(
    client: Client, service: AssetService, tables: DynamoTables
) -> None:
    archive(tables, created_asset(service, "sold"))
    created_asset(service, "kept")
    assert one(client, "sold").status == 404
    found = one(client, "sold", query={"showArchived": "true"}).body
    assert (found["status"], found["databaseId"]) == ("archived", "museum")
    assert (found["archivedBy"], found["archivedReason"]) == ("admin", "sold")
    assert one(client, "kept", query={"showArchived": "true"}).body["status"] == "active"
    assert one(client, "sold", method="PUT", body={"assetName": "x"}).status == 404
    assert listed(client) == ["kept"]
    assert listed(client, showArchived="true") == ["sold"]
    assert listed(client, None, showArchived="true") == ["sold"]


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


def test_the_buckets_of_a_list_are_read_once(
    client: Client, service: AssetService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        created_asset(service, f"asset-{number}")
    asked: list[str] = []
    tables = service.buckets.buckets.tables
    query = type(tables).query

    def counted(self: object, wanted: Any, page: Any) -> Any:
        asked.append(wanted.table.name)
        return query(self, wanted, page)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(type(tables), "query", counted)
    listed(client)
    assert asked.count("S3AssetBucketsStorageTable") == 1


def test_content_is_written_without_undoing_an_edit(service: AssetService) -> None:
    seen = created_asset(service)
    admin = Identity("admin")
    service.update_asset(admin, "museum", "statue", UpdateAssetBody(asset_name="A bust"))
    service.set_content(seen, asset_type=".glb", preview_key="previews/statue/a.png")
    found = service.get_asset(admin, "museum", "statue")
    assert (found.asset_name, found.asset_type, found.revision) == ("A bust", ".glb", 3)
    assert found.preview_location is not None
    assert found.preview_location.key == "previews/statue/a.png"
    assert found.inherited_revision == 2
    cleared = service.set_content(found, preview_key="")
    assert cleared.preview_location is None


def test_content_does_not_revive_an_archived_asset(
    service: AssetService, tables: DynamoTables
) -> None:
    seen = created_asset(service)
    archive(tables, seen)
    with pytest.raises(AssetNotFoundError):
        service.set_content(seen, asset_type=".glb")
    assert AssetRepository(tables).get("museum", "statue") is None


def test_only_the_administrator_gets_in(service: AssetService) -> None:
    created_asset(service)
    stranger = Client(build_router(service), user_id="stranger")
    assert create(stranger).status == 403
    assert one(stranger).status == 403


def test_the_services_hide_what_the_caller_may_not_see(
    service: AssetService, stranger: Identity
) -> None:
    created_asset(service)
    with pytest.raises(AssetNotFoundError):
        service.get_asset(stranger, "museum", "statue")
    with pytest.raises(AssetNotFoundError):
        service.asset_for(stranger, "PUT", "museum", "statue")


def put(objects: S3Objects, key: str) -> None:
    objects.put("assetbucket", key, b"x", content_type="text/plain", metadata={})


def overtake(service: AssetService, monkeypatch: pytest.MonkeyPatch, *, times: int) -> None:
    """Let another edit come between reading and writing, so many times."""
    change = AssetRepository.change
    turns = iter(range(1, times + 1))

    def overtaken(self: AssetRepository, asset: Asset, changes: Any, **more: Any) -> Asset:
        turn = next(turns, None)
        if turn is not None:
            self.touch(asset, {"description": f"by another, {turn} times"})
        return change(self, asset, changes, **more)

    monkeypatch.setattr(AssetRepository, "change", overtaken)
