"""When API keys end: with the keys that created them, and with their users."""

from dataclasses import replace
from datetime import datetime

import pytest

from backend.aws.tables import DynamoTables
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.rules.refusals import Reason
from tests.factories.key_routes import KeyRoutes
from tests.factories.outages import unavailable

SOON, LATER = "2026-06-01", "2030-12-31"


@pytest.fixture
def bench(dynamo_tables: DynamoTables, audit: AuditService, now: datetime) -> KeyRoutes:
    return KeyRoutes(dynamo_tables, audit, now)


def sign_up(bench: KeyRoutes, user: str = "ann") -> None:
    body = {"userId": user, "email": f"{user}@example.org"}
    assert bench.client().send("POST", "/user/cognito", body=body).status == 200


@pytest.mark.parametrize(
    ("ended", "reopened"),
    [
        ({"isActive": "false"}, {"isActive": "true"}),
        ({"expiresAt": SOON}, {"expiresAt": LATER}),
        ({"expiresAt": SOON}, {"expiresAt": ""}),
        ({"expiresAt": "2026-01-01"}, {"expiresAt": LATER}),
    ],
)
def test_an_owner_reopens_only_what_no_one_else_ended(
    bench: KeyRoutes, ended: dict[str, str], reopened: dict[str, str]
) -> None:
    key, ann = bench.create(), bench.client("ann")
    assert bench.change(key, ended, by=ann).status == 200
    assert bench.change(key, reopened, by=ann).status == 200
    assert bench.change(key, ended).status == 200
    assert bench.change(key, reopened, by=ann).status == 403
    assert bench.change(key, {"description": "Mine"}, by=ann).status == 200
    assert bench.change(key, reopened).status == 200


def test_an_owner_cannot_claim_what_an_administrator_ended(bench: KeyRoutes) -> None:
    key, ann = bench.create(expiresAt=LATER), bench.client("ann")
    assert bench.change(key, {"expiresAt": SOON}, by=ann).status == 200
    assert bench.change(key, {"isActive": "false"}, by=ann).status == 200
    assert bench.change(key, {"expiresAt": LATER}, by=ann).status == 403
    assert bench.change(key, {"isActive": "true"}, by=ann).status == 403

    key = bench.create()
    keys = ApiKeyRepository(bench.tables)
    result = keys.get(key)
    assert result is not None
    keys.change(result, {"isActive": "false", "endedBy": None})
    assert bench.change(key, {"isActive": "true"}, by=bench.client("ann")).status == 403
    assert bench.change(key, {"isActive": "true"}).status == 200


def test_keys_that_keys_create_are_limited_in_number_and_time(bench: KeyRoutes) -> None:
    key = bench.create("admin", expiresAt=SOON)
    by = bench.client("admin", key)
    child = bench.create("bob", by=by)
    assert bench.one("GET", child).body["expiresAt"] == SOON
    for later in (LATER, ""):
        refused = bench.reply_to_creation("bob", by=by, expiresAt=later)
        assert [error["field"] for error in refused.body["errors"]] == ["expiresAt"]
        assert bench.change(child, {"expiresAt": later}).status == 400
    assert bench.change(child, {"expiresAt": "2026-05-01"}).status == 200
    assert bench.change(child, {"expiresAt": SOON}).status == 200
    key = bench.create("admin")
    for _ in range(8):
        key = bench.create("admin", by=bench.client("admin", key))
    assert bench.reply_to_creation("admin", by=bench.client("admin", key)).status == 403
    key = bench.create("admin", expiresAt=LATER)
    itself = bench.client("admin", key)
    assert bench.change(key, {"expiresAt": ""}, by=itself).status == 403
    assert bench.change(key, {"description": "Another"}, by=itself).status == 403
    assert bench.change(key, {"expiresAt": SOON}, by=itself).status == 200
    assert bench.change(key, {"expiresAt": LATER}, by=itself).status == 403
    assert bench.change(key, {"isActive": "false"}, by=itself).status == 200
    assert bench.change(key, {"isActive": "true"}, by=itself).status == 403

    key = bench.create("admin", expiresAt=SOON)
    child = bench.create("bob", by=bench.client("admin", key))
    through = bench.client("admin", child)
    assert bench.change(key, {"expiresAt": LATER}, by=through).status == 403


@pytest.mark.parametrize("end", [{"isActive": "false"}, {"expiresAt": "2026-01-01"}, None])
def test_keys_end_with_every_key_that_they_descend_from(
    bench: KeyRoutes, end: dict[str, str] | None
) -> None:
    key = bench.create("admin")
    child = bench.create("bob", by=bench.client("admin", key))
    grandchild = bench.create("ann", by=bench.client("admin", child))
    assert [bench.refusal(item) for item in (child, grandchild)] == [None, None]
    if end is None:
        assert bench.one("DELETE", key).status == 200
    else:
        assert bench.change(key, end).status == 200
    assert {bench.refusal(item) for item in (child, grandchild)} == {Reason.KEY_MAKER}
    assert bench.reply_to_creation("bob", by=bench.client("admin", "key-99")).status == 403


def test_the_pool_of_the_user_decides(bench: KeyRoutes, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_up(bench)
    key, other = bench.create("ann"), bench.create("bob")
    answer = bench.client().send("DELETE", "/user/cognito/ann", parameters={"userId": "ann"})
    assert answer.status == 200
    assert bench.one("GET", key).body["isActive"] == "false"
    assert bench.change(key, {"isActive": "true"}, by=bench.client("ann")).status == 403
    assert (bench.refusal(key), bench.refusal(other)) == (Reason.KEY_DISABLED, None)
    robot = bench.create("bob")
    assert bench.refusal(robot) is None
    sign_up(bench)
    key = bench.create("ann")
    bench.pool.pool_id = "us-east-1_another"
    bench.pool.users.clear()
    assert bench.refusal(key) is None

    sign_up(bench)
    key = bench.create("ann")

    monkeypatch.setattr(bench.pool, "get_user", unavailable)
    assert bench.refusal(key) is None
    assert len(bench.warnings) == 1


@pytest.mark.parametrize("first", ["key", "user"])
def test_keys_of_a_pool_user_end_when_the_pool_disables_or_deletes_the_user(
    bench: KeyRoutes, first: str
) -> None:
    if first == "user":
        sign_up(bench)
        key = bench.create("ann")
    else:  # somebody created the user in the pool itself
        bench.pool.create_user("ann", email="ann@example.org", phone=None)
        key = bench.create("ann")
    assert bench.refusal(key) is None
    bench.pool.users["ann"] = replace(bench.pool.users["ann"], enabled=False)
    assert bench.refusal(key) is Reason.USER_DISABLED
    assert bench.reply_to_creation("ann").status == 400
    del bench.pool.users["ann"]
    assert bench.refusal(key) is Reason.USER_DISABLED
    assert bench.refusal(key, absence_counts=False) is None
