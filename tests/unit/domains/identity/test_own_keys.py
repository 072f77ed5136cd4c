"""The caller's own API keys at `/auth/user/api-keys`."""

from datetime import datetime

import pytest

from backend.aws.tables import DynamoTables
from backend.core.transactions import Put
from backend.domains.audit.service.commands import AuditService
from backend.spec.tables.access import API_KEYS
from tests.factories.http import Client, Response
from tests.factories.key_routes import KeyRoutes

PATH = "/auth/user/api-keys"
BODY = {"apiKeyName": "Script", "description": "For a script", "expiresAt": "2027-03-01"}
"""365 days after the tests' day."""


@pytest.fixture
def bench(dynamo_tables: DynamoTables, audit: AuditService, now: datetime) -> KeyRoutes:
    return KeyRoutes(dynamo_tables, audit, now)


@pytest.fixture
def ann(bench: KeyRoutes) -> Client:
    return bench.client("ann")


def create(by: Client, **changes: object) -> Response:
    return by.send("POST", PATH, body={**BODY, **changes})


def one(by: Client, key: str, method: str = "GET", **body: object) -> Response:
    parameters = {"apiKeyId": key}
    return by.send(method, f"{PATH}/{key}", parameters=parameters, body=body or None)


def listed(by: Client) -> list[str]:
    return sorted(item["apiKeyId"] for page in by.pages(PATH) for item in page["Items"])


def test_a_user_creates_reads_changes_and_deletes_keys(bench: KeyRoutes, ann: Client) -> None:
    created = create(ann).body
    key = created.pop("apiKeyId")
    bench.texts[key] = created.pop("apiKey")
    assert (created["userId"], created["createdBy"]) == ("ann", "ann")
    identity = bench.identify(key)
    assert (identity.user_id, identity.mfa) == ("ann", False)
    assert listed(ann) == [key]
    assert one(ann, key).body["expiresAt"] == "2027-03-01"
    assert one(ann, key, "PUT", isActive="false").body["isActive"] == "false"
    assert bench.refusal(key) is not None
    assert one(ann, key, "PUT", isActive="true", description="Mine").status == 200
    assert one(ann, key, "DELETE").status == 200
    assert listed(ann) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"userId": "bob"}, "userId"),
        ({"userId": "ann"}, "userId"),
        ({"userId": None}, "userId"),
        ({"expiresAt": "2027-03-02"}, "expiresAt"),
        ({"expiresAt": "2027-03-02T00:00:00Z"}, "expiresAt"),
        ({"expiresAt": "9999-12-31"}, "expiresAt"),
        ({"expiresAt": "2026-02-28"}, "expiresAt"),
        ({"expiresAt": ""}, "expiresAt"),
        ({"expiresAt": None}, "expiresAt"),
        ({"expiresAt": "soon"}, "expiresAt"),
        ({"apiKeyName": "a/b"}, "apiKeyName"),
        ({"description": ""}, "description"),
    ],
)
def test_a_wrong_field_creates_nothing(ann: Client, changes: dict[str, object], field: str) -> None:
    answer = create(ann, **changes)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert listed(ann) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"userId": "bob", "description": "x"}, "userId"),
        ({"expiresAt": "2027-03-02"}, "expiresAt"),
        ({"expiresAt": ""}, "expiresAt"),
        ({"isActive": True}, "isActive"),
        ({"unknown": 1}, "body"),
    ],
)
def test_a_wrong_change_changes_nothing(
    ann: Client, changes: dict[str, object], field: str
) -> None:
    key = create(ann).body["apiKeyId"]
    before = one(ann, key).body
    answer = one(ann, key, "PUT", **changes)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert one(ann, key).body == before


def test_keys_of_others_and_sessions_look_absent_also_to_administrators(
    bench: KeyRoutes, ann: Client
) -> None:
    admin = bench.client()
    hidden = {bench.create("bob"): ann, bench.create("ann"): admin}
    hidden |= {bench.sign_in(ann): ann, bench.sign_in(admin): admin, "none": ann}
    for key, by in hidden.items():
        for method, body in (("GET", {}), ("PUT", {"isActive": "false"}), ("DELETE", {})):
            answer = one(by, key, method, **body)
            assert (answer.status, answer.body["code"]) == (404, "ApiKeyNotFound")
        assert key not in listed(by)
    assert all(bench.refusal(key) is None for key in hidden if key != "none")


def test_the_list_reads_the_callers_keys_only_by_page(
    bench: KeyRoutes, ann: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    own: list[str] = []
    for _ in range(3):
        own.append(bench.create("ann"))
        bench.create("bob")
        bench.sign_in(ann)
    monkeypatch.setattr(bench.tables, "scan", None)
    pages = ann.pages(PATH, query={"pageSize": "1"})
    assert [[item["apiKeyId"] for item in page["Items"]] for page in pages] == [
        *([key] for key in sorted(own)),
        [],
    ]


@pytest.mark.parametrize("ended", [{"isActive": "false"}, {"expiresAt": "2026-06-01"}])
def test_an_administrators_end_is_not_undone_by_the_owner(
    bench: KeyRoutes, ann: Client, ended: dict[str, str]
) -> None:
    key = create(ann).body["apiKeyId"]
    assert bench.change(key, ended).status == 200
    assert one(ann, key, "PUT", isActive="true", expiresAt="2027-01-01").status == 403
    assert one(ann, key, "PUT", description="Mine").status == 200
    assert bench.one("GET", key).body.items() >= ended.items()


def test_a_key_made_with_a_key_ends_with_it(bench: KeyRoutes, ann: Client) -> None:
    maker = bench.create("ann", by=ann, expiresAt="2026-06-01")
    with_key = bench.client("ann", maker)
    assert create(with_key).status == 400
    made = create(with_key, expiresAt="2026-05-31").body
    bench.texts[made["apiKeyId"]] = made["apiKey"]
    assert one(with_key, maker, "PUT", isActive="false").status == 200
    assert bench.refusal(made["apiKeyId"]) is not None


def test_a_user_with_the_default_role_only_creates_keys(bench: KeyRoutes) -> None:
    guest = bench.client("guest")
    assert create(guest).status == 200
    assert bench.reply_to_creation("guest").status == 400, "by an administrator"


@pytest.mark.parametrize("created", ["", "once", "9999-12-31T00:00:00Z"])
def test_a_key_of_unknown_age_is_not_extended(bench: KeyRoutes, ann: Client, created: str) -> None:
    key = create(ann).body["apiKeyId"]
    item = bench.tables.get(API_KEYS, {"apiKeyId": key}) or {}
    bench.tables.write(Put(table=API_KEYS, item={**item, "createdAt": created}))
    answer = one(ann, key, "PUT", expiresAt="2026-12-31")
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "expiresAt")
    assert one(ann, key, "PUT", isActive="false").status == 200
