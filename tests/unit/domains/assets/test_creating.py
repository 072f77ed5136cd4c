"""Creating assets: what is written, what is taken, what is refused."""

from typing import Any

from backend.core.tables import Tables
from backend.domains.assets.service.commands import AssetService
from backend.spec.tables.assets import ASSET_VERSIONS
from backend.spec.tables.operations import RESERVATIONS
from tests.factories.assets import ADMIN, created_asset, created_database
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Client
from tests.unit.domains.assets.calls import BODY, archive, create, listed, one


def reserved(tables: Tables, key: str) -> dict[str, Any] | None:
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
    client: Client, service: AssetService, tables: Tables
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
    assert service.databases.describe_database(ADMIN, "museum").asset_count == 1


def test_without_an_id_one_is_made(client: Client) -> None:
    asset_id = create(client, assetId=None).body["assetId"]
    assert (asset_id[0], len(asset_id)) == ("x", 37)
    assert one(client, asset_id).status == 200


def test_an_id_is_unique_over_all_databases_and_its_owner_is_not_reported(
    client: Client, service: AssetService, tables: Tables
) -> None:
    created_database(service, "archive-hall")
    create(client)
    again = create(client, databaseId="archive-hall")
    assert (again.status, again.body["code"]) == (409, "AssetIdTaken")
    assert "museum" not in again.body["message"]
    assert listed(client, "archive-hall") == []
    assert service.databases.describe_database(ADMIN, "archive-hall").asset_count == 0


def test_the_id_of_an_archived_asset_remains_taken(
    client: Client, service: AssetService, tables: Tables
) -> None:
    archive(tables, created_asset(service))
    assert create(client).status == 409


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
