"""Databases: their rules and routes, over tables in memory."""

from datetime import datetime

import pytest

from backend.core.tables import Tables
from backend.domains.access.repository.deleted_names import DeletedNameRepository
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.audit.service.commands import AuditService
from backend.domains.buckets.repository import BucketRepository
from backend.domains.buckets.service import BucketService
from backend.domains.databases.repository import DatabaseRepository
from backend.domains.databases.routes import build_router
from backend.domains.databases.service import DatabaseService
from tests.factories.access import OnlyUser
from tests.factories.buckets import BUCKET_ID, stored_bucket
from tests.factories.databases import no_purges
from tests.factories.http import Client, Response

BODY = {"databaseId": "museum", "description": "All of the museum", "defaultBucketId": BUCKET_ID}


@pytest.fixture
def service(tables: Tables, audit: AuditService, now: datetime) -> DatabaseService:
    stored_bucket(tables)
    buckets = BucketService(BucketRepository(tables), OnlyUser())
    names = DeletedNames(DeletedNameRepository(tables), OnlyUser())
    return DatabaseService(
        DatabaseRepository(tables), buckets, names, OnlyUser(), audit, lambda: now
    )


@pytest.fixture
def client(service: DatabaseService) -> Client:
    return Client(build_router(service, no_purges))


def one(client: Client, method: str = "GET", **more: object) -> Response:
    return client.send(
        method,
        "/database/museum",
        parameters={"databaseId": "museum"},
        **more,  # pyright: ignore[reportArgumentType]
    )


def test_a_created_database_can_be_read(client: Client) -> None:
    created = client.send("POST", "/database", body=BODY)
    assert (created.status, created.body["databaseId"]) == (200, "museum")
    found = one(client)
    assert found.body == {
        "databaseId": "museum",
        "description": "All of the museum",
        "dateCreated": "2026-03-01T12:00:00.000000Z",
        "assetCount": 0,
        "defaultBucketId": BUCKET_ID,
        "bucketName": "assetbucket",
        "baseAssetsPrefix": "/",
        "restrictMetadataOutsideSchemas": False,
        "restrictFileUploadsToExtensions": "",
        "processing": True,
    }
    assert found.headers["ETag"] == '"1"'


def test_a_taken_id_is_a_conflict(client: Client) -> None:
    client.send("POST", "/database", body=BODY)
    again = client.send("POST", "/database", body=BODY)
    assert (again.status, again.body["code"]) == (409, "DatabaseExists")


def test_an_unknown_bucket_is_refused_by_name(client: Client) -> None:
    answer = client.send("POST", "/database", body={**BODY, "defaultBucketId": "none"})
    assert answer.status == 400
    assert answer.body["errors"] == [
        {"field": "defaultBucketId", "message": "bucket none does not exist"}
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("databaseId", "a#b"),
        ("databaseId", "a:b"),
        ("databaseId", "a/b"),
        ("databaseId", "ab"),
        ("databaseId", "x" * 256),
        ("databaseId", "ab\u0000c"),
        ("databaseId", 7),
        ("databaseId", None),
        ("databaseId", "GLOBAL"),
        ("description", "abc"),
        ("description", "x" * 257),
        ("description", ["a list"]),
        ("restrictMetadataOutsideSchemas", "yes"),
        ("restrictFileUploadsToExtensions", "glb"),
        ("restrictFileUploadsToExtensions", ",".join([".glb"] * 410)),
    ],
)
def test_a_wrong_field_is_refused_by_name(client: Client, field: str, value: object) -> None:
    answer = client.send("POST", "/database", body={**BODY, field: value})
    assert answer.status == 400
    assert [error["field"] for error in answer.body["errors"]] == [field]


@pytest.mark.parametrize("body", ["", "{", "[1]", "NaN", '{"databaseId": NaN}', '"\ud800"'])
def test_a_body_that_is_no_json_object_is_refused(client: Client, body: str) -> None:
    answer = client.send("POST", "/database", body=body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "body")


def test_an_update_changes_only_what_it_names(client: Client) -> None:
    client.send("POST", "/database", body=BODY)
    answer = one(client, "PUT", body={"description": "Only the east wing"})
    assert (answer.status, answer.body["operation"]) == (200, "update")
    found = one(client)
    assert found.body["description"] == "Only the east wing"
    assert found.body["defaultBucketId"] == BUCKET_ID
    assert found.headers["ETag"] == '"2"'


def test_an_update_of_nothing_is_refused(client: Client) -> None:
    client.send("POST", "/database", body=BODY)
    assert one(client, "PUT", body={}).status == 400


def test_a_stale_if_match_is_refused(client: Client) -> None:
    client.send("POST", "/database", body=BODY)
    one(client, "PUT", body={"description": "second"}, headers={"if-match": '"1"'})
    stale = one(client, "PUT", body={"description": "third"}, headers={"if-match": '"1"'})
    assert (stale.status, stale.body["code"]) == (412, "DatabaseRevisionConflict")
    assert one(client).body["description"] == "second"


@pytest.mark.parametrize("sent", ["", '"x"', '"-1"', '"1", "2"', '"٣"', f'"{"9" * 5000}"'])
def test_what_is_no_revision_is_refused(client: Client, sent: str) -> None:
    client.send("POST", "/database", body=BODY)
    answer = one(client, "PUT", body={"description": "second"}, headers={"if-match": sent})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "If-Match")


def test_lists_are_paged_to_the_end(client: Client) -> None:
    for number in range(5):
        client.send("POST", "/database", body={**BODY, "databaseId": f"db-{number}"})
    found: list[str] = []
    query = {"pageSize": "2"}
    while True:
        page = client.send("GET", "/database", query=query).body
        found += [item["databaseId"] for item in page["Items"]]
        if "NextToken" not in page:
            break
        query = {"pageSize": "2", "startingToken": page["NextToken"]}
    assert sorted(found) == [f"db-{number}" for number in range(5)]


def test_a_forged_page_token_is_refused(client: Client) -> None:
    answer = client.send("GET", "/database", query={"startingToken": "Zm9yZ2Vk"})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "startingToken")


def test_a_page_token_of_another_query_is_refused(client: Client) -> None:
    for number in range(3):
        client.send("POST", "/database", body={**BODY, "databaseId": f"db-{number}"})
    token = client.send("GET", "/database", query={"pageSize": "1"}).body["NextToken"]
    query = {"pageSize": "1", "startingToken": token, "showDeleted": "true"}
    assert client.send("GET", "/database", query=query).status == 400


def test_only_the_administrator_gets_in(service: DatabaseService) -> None:
    stranger = Client(build_router(service, no_purges), user_id="stranger")
    assert stranger.send("POST", "/database", body=BODY).status == 403
    assert one(stranger).status == 403
