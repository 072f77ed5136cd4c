"""API keys: their routes, over tables in memory."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.core.transactions import Put
from backend.domains.identity.rules.keys import hash_key
from backend.spec.tables.access import API_KEYS
from tests.factories.access import stored_user_role
from tests.factories.administration import AccessServices, Parts
from tests.factories.http import Client, Response

BODY = {"apiKeyName": "Isaac Sim", "userId": "robot@example.org", "description": "For the lab"}
PEPPER = b"pepper"


@pytest.fixture
def services(parts: Parts) -> AccessServices:
    stored_user_role(parts.tables, user_id="robot@example.org", role_name="viewer")
    numbers = iter(range(100))
    return replace(parts, new_id=lambda: f"key-{next(numbers)}").services()


@pytest.fixture
def client(services: AccessServices) -> Client:
    return Client(services.router())


def create(client: Client, **changes: object) -> Response:
    return client.send("POST", "/auth/api-keys", body={**BODY, **changes})


def one(
    client: Client, method: str = "GET", body: object = None, key_id: str = "key-0"
) -> Response:
    path = f"/auth/api-keys/{key_id}"
    return client.send(method, path, parameters={"apiKeyId": key_id}, body=body)


def test_a_created_key_is_returned_once_and_stored_as_hash(client: Client, parts: Parts) -> None:
    created = create(client, expiresAt="2030-12-31")
    text = created.body.pop("apiKey")
    assert text == "vams_" + "s" * 64
    assert created.body == {
        "apiKeyId": "key-0",
        "apiKeyName": "Isaac Sim",
        "description": "For the lab",
        "userId": "robot@example.org",
        "createdBy": "admin",
        "createdAt": "2026-03-01T12:00:00.000000Z",
        "updatedAt": "2026-03-01T12:00:00.000000Z",
        "expiresAt": "2030-12-31",
        "isActive": "true",
    }
    assert one(client).body == created.body
    item = parts.tables.get(API_KEYS, {"apiKeyId": "key-0"}) or {}
    assert item["apiKeyHash"] == hash_key(PEPPER, text)
    assert text not in str(item)
    before = created.body
    after = one(client, "PUT", {"description": "For the museum"}).body
    assert after["description"] == "For the museum"
    assert {k: v for k, v in before.items() if k not in {"apiKey", "description"}} == {
        k: v for k, v in after.items() if k != "description"
    }
    assert one(client, "PUT", {"expiresAt": ""}).body["expiresAt"] == ""


def test_later_replies_hold_no_secret(client: Client, services: AccessServices) -> None:
    create(client)
    listed = client.send("GET", "/auth/api-keys").body["Items"]
    for reply in (one(client).body, one(client, "PUT", {"description": "new"}).body, *listed):
        assert not {"apiKey", "apiKeyHash", "revision"} & set(reply)
    assert one(client, "DELETE").status == 200
    for method, body in (("GET", None), ("PUT", {"isActive": "true"}), ("DELETE", None)):
        answer = one(client, method, body)
        assert (answer.status, answer.body["code"]) == (404, "ApiKeyNotFound")
    stranger = Client(services.router(), user_id="robot@example.org")
    assert create(stranger).status == 403
    assert one(stranger).status == 403
    assert one(stranger, "DELETE").status == 403
    assert stranger.send("GET", "/auth/api-keys").status == 403


def test_a_key_needs_a_role_and_is_disabled_by_texts(
    client: Client, parts: Parts, services: AccessServices
) -> None:
    answer = create(client, userId="nobody")
    assert answer.status == 400
    assert answer.body["errors"] == [{"field": "userId", "message": "user nobody has no roles"}]
    create(client)
    assert one(client, "PUT", {"expiresAt": "2020-01-01"}).body["expiresAt"] == "2020-01-01"
    create(client)
    assert one(client, "PUT", {"isActive": "false"}).body["isActive"] == "false"
    assert one(client).body["isActive"] == "false"
    assert one(client, "PUT", {"isActive": "true"}).body["isActive"] == "true"
    assert one(client, "PUT", {"isActive": True}).status == 400
    assert one(client, "PUT", {"isActive": "no"}).status == 400
    item = parts.tables.get(API_KEYS, {"apiKeyId": "key-0"}) or {}
    del item["revision"]
    parts.tables.write(Put(table=API_KEYS, item=item))
    assert one(client, "PUT", {"description": "second"}).status == 200
    assert one(client, "PUT", {"description": "third"}).body["description"] == "third"
    seen = services.api_keys.keys.get("key-0")
    assert seen is not None
    one(client, "PUT", {"isActive": "false"})
    with pytest.raises(Exception, match="changed by someone else"):
        services.api_keys.keys.change(seen, {"isActive": "true"})
    assert one(client).body["isActive"] == "false"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("apiKeyName", ""),
        ("apiKeyName", "a/b"),
        ("apiKeyName", "x" * 257),
        ("apiKeyName", None),
        ("userId", "a b"),
        ("userId", "a#b"),
        ("userId", "x" * 257),
        ("userId", 7),
        ("description", ""),
        ("description", "x" * 257),
        ("description", "\ud800"),
        ("expiresAt", "tomorrow"),
        ("expiresAt", "2026-13-01"),
        ("expiresAt", "2030-12-31T25:00:00"),
        ("expiresAt", "20301231"),
        ("expiresAt", 1900000000),
        ("expiresAt", "2026-02-28"),
        ("expiresAt", "2026-03-01T11:59:59Z"),
    ],
)
def test_a_wrong_field_is_refused_by_name(client: Client, field: str, value: object) -> None:
    answer = create(client, **{field: value})
    assert answer.status == 400
    assert [error["field"] for error in answer.body["errors"]] in ([field], ["body"])
    assert client.send("GET", "/auth/api-keys").body["Items"] == []


def test_the_row_of_a_key_goes_a_month_after_its_expiry(client: Client, parts: Parts) -> None:
    def goes() -> datetime | None:
        row = parts.tables.get(API_KEYS, {"apiKeyId": "key-0"})
        assert row is not None
        at = row.get("removeAt")
        return None if at is None else datetime.fromtimestamp(int(at), UTC)

    create(client, expiresAt="2030-12-01")
    assert goes() == datetime(2031, 1, 1, tzinfo=UTC)
    one(client, "PUT", {"expiresAt": "2030-12-01T12:00:00+02:00"})
    assert goes() == datetime(2030, 12, 31, 10, tzinfo=UTC)
    one(client, "PUT", {"description": "Another"})
    assert goes() == datetime(2030, 12, 31, 10, tzinfo=UTC)
    for last in ("9999-12-31", "9999-12-31T23:59:59-14:00"):
        assert one(client, "PUT", {"expiresAt": last}).status == 200
    one(client, "PUT", {"expiresAt": ""})
    assert goes() is None


@pytest.mark.parametrize("body", [{}, {"userId": "other"}, {"description": None}])
def test_an_update_of_nothing_is_refused(client: Client, body: dict[str, object]) -> None:
    create(client)
    assert one(client, "PUT", body).status == 400
