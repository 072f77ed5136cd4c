"""Databases: their rules and routes, over tables in memory."""

from typing import Any

import pytest

from backend.core.tables import Tables
from backend.domains.databases.routes import build_router
from backend.domains.databases.service import DatabaseService
from tests.factories.assets import asset_service, no_purges
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Client, Response
from tests.fakes.objects import MemoryObjects

BODY = {"databaseId": "museum", "description": "All of the museum", "defaultBucketId": BUCKET_ID}


@pytest.fixture
def service(tables: Tables) -> DatabaseService:
    return asset_service(tables, MemoryObjects()).databases


@pytest.fixture
def client(service: DatabaseService) -> Client:
    return Client(build_router(service, no_purges))


def one(client: Client, method: str = "GET", **more: Any) -> Response:
    return client.send(method, "/database/museum", parameters={"databaseId": "museum"}, **more)


def test_a_created_database_can_be_read(client: Client) -> None:
    created = client.send("POST", "/database", body=BODY)
    assert (created.status, created.body["databaseId"]) == (200, "museum")
    result = one(client)
    assert result.body == {
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
    assert result.headers["ETag"] == '"1"'
    again = client.send("POST", "/database", body=BODY)
    assert (again.status, again.body["code"]) == (409, "DatabaseExists")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("databaseId", "a#b"),
        ("databaseId", "a:b"),
        ("databaseId", "a/b"),
        ("databaseId", "ab"),
        ("databaseId", "x" * 256),
        ("databaseId", "ab\u0000c"),
        ("databaseId", "a\tb"),
        ("databaseId", ""),
        ("databaseId", ["abc"]),
        ("databaseId", 7),
        ("databaseId", None),
        ("databaseId", "GLOBAL"),
        ("description", "abc"),
        ("description", "x" * 257),
        ("description", ["a list"]),
        ("restrictMetadataOutsideSchemas", "yes"),
        ("restrictFileUploadsToExtensions", "glb"),
        ("restrictFileUploadsToExtensions", ",".join([".glb"] * 410)),
        ("defaultBucketId", "none"),
    ],
)
def test_a_wrong_field_is_refused_by_name(client: Client, field: str, value: object) -> None:
    answer = client.send("POST", "/database", body={**BODY, field: value})
    assert answer.status == 400
    (error,) = answer.body["errors"]
    assert error["field"] == field
    assert field != "defaultBucketId" or error["message"] == "bucket none does not exist"


@pytest.mark.parametrize(
    "body", ["", "{", "{}}", "[1]", "null", "\x00", "NaN", '{"databaseId": NaN}', '"\ud800"']
)
def test_a_body_that_is_no_json_object_is_refused(client: Client, body: str) -> None:
    answer = client.send("POST", "/database", body=body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "body")


def test_an_update_changes_only_what_it_names(client: Client) -> None:
    client.send("POST", "/database", body=BODY)
    answer = one(client, "PUT", body={"description": "Only the east wing"})
    assert (answer.status, answer.body["operation"]) == (200, "update")
    result = one(client)
    assert result.body["description"] == "Only the east wing"
    assert result.body["defaultBucketId"] == BUCKET_ID
    assert result.headers["ETag"] == '"2"'
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


def test_lists_are_paged_to_the_end_by_tokens_of_their_query(client: Client) -> None:
    for number in range(5):
        client.send("POST", "/database", body={**BODY, "databaseId": f"db-{number}"})
    pages = client.pages("/database", query={"pageSize": "2"})
    ids = [item["databaseId"] for page in pages for item in page["Items"]]
    assert sorted(ids) == [f"db-{number}" for number in range(5)]
    other = {"startingToken": pages[0]["NextToken"], "pageSize": "2", "showDeleted": "true"}
    for query in ({"startingToken": "Zm9yZ2Vk"}, other):
        answer = client.send("GET", "/database", query=query)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "startingToken")


def test_only_the_administrator_gets_in(service: DatabaseService) -> None:
    stranger = Client(build_router(service, no_purges), user_id="stranger")
    assert stranger.send("POST", "/database", body=BODY).status == 403
    assert one(stranger).status == 403
