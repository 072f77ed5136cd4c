"""Sessions of browsers: how they begin, what they may do, and when they end."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from backend.aws.tables import DynamoTables
from backend.core.identity import Identity
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.rules.refusals import Reason
from backend.spec.page import PROOF_HEADER, VIEWER_HEADER
from backend.spec.tables.access import API_KEYS, USERS
from tests.factories.audit import entries
from tests.factories.key_routes import FROM_PAGE, KeyRoutes

NOON_AT = "2026-03-01T12:00:00.000000Z"
MIDNIGHT = "2026-03-02T00:00:00.000000Z"
MOST = 20


@pytest.fixture
def bench(dynamo_tables: DynamoTables, audit: AuditService, now: datetime) -> KeyRoutes:
    return KeyRoutes(dynamo_tables, audit, now)


def seconds(at: datetime) -> str:
    return str(int(at.timestamp()))


def listed(bench: KeyRoutes, **query: str) -> set[str]:
    answer = bench.client().send("GET", "/auth/api-keys", query=query)
    return {item["apiKeyId"] for item in answer.body["Items"]}


def test_a_session_is_a_cookie_that_no_script_reads(bench: KeyRoutes) -> None:
    answer = bench.client("nobody").send("POST", "/auth/session", headers=FROM_PAGE)
    assert answer.body == {"sessionId": "key-0", "userId": "nobody", "expiresAt": MIDNIGHT}
    (cookie,) = answer.cookies
    text, *attributes = cookie.split("; ")
    assert text == "__Host-vitrine=vams_key-0" + "0" * 64
    assert set(attributes) == {
        "Path=/",
        "Secure",
        "HttpOnly",
        "SameSite=Strict",
        f"Max-Age={12 * 3600}",
    }
    row = bench.tables.get(API_KEYS, {"apiKeyId": "key-0"}) or {}
    assert (row["kind"], row["userId"], "0" * 64 in str(row)) == ("session", "nobody", False)
    (entry,) = entries(bench.tables)
    assert (entry["operation"], entry["entity"]) == ("create_session", "apiKey:key-0")
    assert row["apiKeyHash"] not in str(entry)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {PROOF_HEADER: ""},
        {PROOF_HEADER: "edge"},
        {PROOF_HEADER: "\ud800"},
        {VIEWER_HEADER: "127.0.0.1"},
    ],
)
def test_only_the_edge_gets_a_session(bench: KeyRoutes, headers: Mapping[str, str]) -> None:
    answer = bench.client().send("POST", "/auth/session", headers=dict(headers))
    assert (answer.status, answer.body["code"], answer.cookies) == (403, "SignInRefused", ())
    assert listed(bench, showSessions="true") == set()


def test_a_session_has_what_the_credential_proved(bench: KeyRoutes) -> None:
    proved = {"mfa": "true", "email": "ann@example.org", "subject": "sub-7"}
    session = bench.sign_in(bench.client("corp.ann", authTime=seconds(bench.now), **proved))
    assert bench.identify(session) == Identity(
        "corp.ann", mfa=True, email="ann@example.org", api_key_id=session, subject="sub-7"
    )
    key = bench.create()
    by_key = bench.sign_in(bench.client("ann", key))
    assert bench.identify(by_key) == Identity("ann", api_key_id=by_key)


@pytest.mark.parametrize(("hours_ago", "left"), [(0, 12), (11, 1)])
def test_a_session_of_a_token_ends_twelve_hours_after_the_sign_in(
    bench: KeyRoutes, hours_ago: int, left: int
) -> None:
    began = bench.now - timedelta(hours=hours_ago)
    session = bench.sign_in(bench.client("ann", authTime=seconds(began)))
    bench.now += timedelta(hours=left, seconds=-1)
    assert bench.refusal(session) is None
    bench.now += timedelta(seconds=1)
    assert bench.refusal(session) is Reason.KEY_EXPIRED


def test_an_old_sign_in_begins_no_session(bench: KeyRoutes) -> None:
    began = seconds(bench.now - timedelta(hours=12))
    answer = bench.client("ann", authTime=began).send("POST", "/auth/session", headers=FROM_PAGE)
    assert (answer.status, answer.body["code"]) == (403, "SignInRefused")


def test_a_session_ends_with_its_key(bench: KeyRoutes) -> None:
    key = bench.create(expiresAt="2026-03-01T13:00:00Z")
    first, other = (bench.sign_in(bench.client("ann", key)) for _ in range(2))
    assert bench.one("GET", first).body["expiresAt"] == "2026-03-01T13:00:00Z"
    assert bench.change(key, {"isActive": "false"}).status == 200
    assert bench.refusal(first) is Reason.KEY_MAKER
    assert bench.change(key, {"isActive": "true"}).status == 200
    assert bench.refusal(other) is None
    assert bench.one("DELETE", key).status == 200
    assert bench.refusal(other) is Reason.KEY_MAKER
    gone = bench.client("ann", key).send("POST", "/auth/session", headers=FROM_PAGE)
    assert (gone.status, gone.body["code"]) == (403, "SignInRefused")


def test_a_session_renews_nothing(bench: KeyRoutes) -> None:
    session = bench.sign_in(bench.client("admin"))
    itself = bench.client("admin", session)
    again = itself.send("POST", "/auth/session", headers=FROM_PAGE)
    assert (again.status, again.body["code"], again.cookies) == (403, "SignInRefused", ())
    for by in (itself, bench.client("admin")):
        for changes in ({"expiresAt": "2030-01-01"}, {"expiresAt": ""}):
            assert bench.change(session, changes, by=by).status == 403
    assert bench.change(session, {"isActive": "false"}).status == 200
    assert bench.refusal(session) is Reason.KEY_DISABLED
    assert bench.change(session, {"isActive": "true"}).status == 403


def test_a_key_made_with_a_session_outlives_it_and_ends_with_the_sign_in(bench: KeyRoutes) -> None:
    parent = bench.create("ann", expiresAt="2026-06-01")
    for key, expiry in ((parent, "2026-06-01"), (None, "")):
        session = bench.sign_in(bench.client("ann", key))
        child = bench.create("ann", by=bench.client("ann", session))
        assert bench.one("GET", child).body["expiresAt"] == expiry
        answer = bench.client("ann", session).send("DELETE", "/auth/session")
        assert answer.status == 200
        assert bench.refusal(session) is Reason.KEY_UNKNOWN
        assert bench.refusal(child) is None
        if key is not None:
            assert bench.one("DELETE", key).status == 200
            assert bench.refusal(child) is Reason.KEY_MAKER


def test_signing_out_removes_the_cookie_of_sessions_only(bench: KeyRoutes) -> None:
    session = bench.sign_in(bench.client("ann"))
    answer = bench.client("ann", session).send("DELETE", "/auth/session")
    assert "__Host-vitrine=; Path=/; Max-Age=0; HttpOnly; Secure" in answer.cookies[0]
    operations = {entry["operation"] for entry in entries(bench.tables)}
    assert operations == {"create_session", "delete_session"}
    for credential in (session, bench.create(), None):
        refused = bench.client("ann", credential).send("DELETE", "/auth/session")
        assert (refused.status, refused.body["code"]) == (404, "SessionNotFound")


def test_lists_of_keys_have_sessions_on_request(bench: KeyRoutes) -> None:
    key = bench.create()
    session = bench.sign_in(bench.client("ann", key))
    assert listed(bench) == {key}
    assert listed(bench, showSessions="true") == {key, session}
    assert bench.one("GET", session).body["kind"] == "session"
    assert "kind" not in bench.one("GET", key).body
    stranger = bench.client("bob").send("GET", "/auth/api-keys", query={"showSessions": "true"})
    assert stranger.body["Items"] == []
    assert bench.one("DELETE", session, by=bench.client("bob")).status == 404
    assert bench.one("DELETE", session).status == 200
    assert bench.refusal(session) is Reason.KEY_UNKNOWN


def test_the_oldest_session_ends_and_ended_ones_do_not_count(bench: KeyRoutes) -> None:
    ann = bench.client("ann")
    sessions = [bench.sign_in(ann) for _ in range(MOST)]
    bench.client("ann", sessions[5]).send("DELETE", "/auth/session")
    kept = bench.sign_in(ann)
    assert bench.refusal(sessions[0]) is None
    last = bench.sign_in(ann)
    assert bench.refusal(sessions[0]) is Reason.KEY_UNKNOWN
    assert all(bench.refusal(item) is None for item in (*sessions[1:5], kept, last))
    assert bench.refusal(bench.sign_in(bench.client("bob"))) is None
    ended = [
        entry["changes"]["ended"] for entry in entries(bench.tables) if "ended" in entry["changes"]
    ]
    assert ended == [{"after": [sessions[0]]}]
    assert len((bench.tables.get(USERS, {"userId": "ann"}) or {})["sessions"]) == MOST


def test_sign_ins_at_the_same_time_are_all_counted(
    bench: KeyRoutes, monkeypatch: pytest.MonkeyPatch
) -> None:
    get_many, again = ApiKeyRepository.get_many, [True]

    def get_while_another_signs_in(keys: ApiKeyRepository, ids: list[str]) -> object:
        if again.pop() if again else False:
            bench.sign_in(bench.client("ann"))
        return get_many(keys, ids)

    monkeypatch.setattr(ApiKeyRepository, "get_many", get_while_another_signs_in)
    late = bench.sign_in(bench.client("ann"))
    row = bench.tables.get(USERS, {"userId": "ann"}) or {}
    assert [bench.refusal(session) for session in row["sessions"]] == [None, None]
    assert row["sessions"][-1] == late


def test_a_user_of_the_pool_who_is_disabled_or_deleted_is_refused(bench: KeyRoutes) -> None:
    body = {"userId": "ann", "email": "ann@example.org"}
    assert bench.client().send("POST", "/user/cognito", body=body).status == 200
    session = bench.sign_in(bench.client("ann", authTime=seconds(bench.now)))
    assert bench.refusal(session) is None
    user = bench.pool.users["ann"]
    bench.pool.users["ann"] = replace(user, enabled=False)
    assert bench.refusal(session) is Reason.USER_DISABLED
    answer = bench.client("ann").send("POST", "/auth/session", headers=FROM_PAGE)
    assert (answer.status, answer.body["code"]) == (403, "SignInRefused")
    bench.pool.users["ann"] = user
    path, parameters = "/user/cognito/ann", {"userId": "ann"}
    assert bench.client().send("DELETE", path, parameters=parameters).status == 200
    assert bench.refusal(session) is Reason.KEY_DISABLED


def test_a_token_of_a_deleted_user_of_the_pool_leaves_no_credential(bench: KeyRoutes) -> None:
    # The gateway may still accept a token whose user the pool no longer has.
    token = bench.client("ann", authTime=seconds(bench.now), inPool="true")
    answer = token.send("POST", "/auth/session", headers=FROM_PAGE)
    assert (answer.status, answer.body["code"]) == (403, "SignInRefused")
    assert answer.body["message"] == "User ann is disabled in the user pool, or not in it"
    answer = bench.reply_to_creation("ann", by=token)
    assert [error["field"] for error in answer.body["errors"]] == ["userId"]
    administrator = bench.client(authTime=seconds(bench.now), inPool="true")
    answer = bench.reply_to_creation("bob", by=administrator)
    assert (answer.status, answer.body["code"]) == (403, "PermissionDenied")
    assert answer.body["message"] == "User admin is disabled in the user pool, or not in it"
    assert listed(bench, showSessions="true") == set()
    bench.pool.create_user("admin", email="admin@example.org", phone=None)
    key = bench.create("bob", by=administrator)
    bench.pool.users["admin"] = replace(bench.pool.users["admin"], enabled=False)
    assert bench.reply_to_creation("bob").status == 403
    assert bench.change(key, {"expiresAt": "2031-01-01T00:00:00Z"}).status == 403
    bench.pool.users.clear()
    # A token of another provider, and the key of a user who never signs in.
    assert bench.sign_in(bench.client("ann", authTime=seconds(bench.now)))
    assert bench.create("bob")
