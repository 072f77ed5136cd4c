"""Rules of API keys, the authentication by them, and how the first administrator is created."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.aws.tables import DynamoTables
from backend.core.ids import new_secret
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query
from backend.core.transactions import Delete, Item, Update
from backend.domains.access.models.stored_roles import ADMIN_ROLE
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.repository.roles import GrantRepository
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.rules.keys import (
    check_valid,
    hash_key,
    is_expired,
    is_recent_use,
    key_in,
    with_prefix,
)
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.service.authentication import KeyAuthentication
from backend.domains.identity.service.first_administrator import ADMIN_KEY_ID, Administrators
from backend.spec.tables.access import API_KEYS, ROLES, USER_ROLES, USERS

KEY = "vams_" + "k" * 64
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def stored(**changes: str) -> ApiKey:
    names = {"api_key_id": "id", "api_key_name": "name", "api_key_hash": "hash"}
    return ApiKey.model_validate({**names, "description": "text", "user_id": "admin", **changes})


@pytest.mark.parametrize("header", [KEY, f"Bearer {KEY}", f"bearer {KEY}", f"  Bearer   {KEY} "])
def test_a_key_is_found_with_and_without_bearer(header: str) -> None:
    assert key_in(header) == KEY


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "vams_",
        "vams_short",
        KEY[5:],
        KEY.upper(),
        f"Basic {KEY}",
        f"{KEY},{KEY}",
        f"{KEY} {KEY}",
        f"Bearer Bearer {KEY}",
        KEY + "\u0000",
        KEY + "é",
        KEY + "\ud800",
        KEY + "x" * 300,
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
        "Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2ln",
    ],
)
def test_what_is_no_key_is_none(header: str) -> None:
    assert key_in(header) is None


@given(st.text())
def test_no_header_breaks_the_recognition(header: str) -> None:
    assert key_in(header) is None


def test_a_hash_depends_on_key_and_pepper_and_is_not_shown() -> None:
    assert hash_key(b"pepper", KEY) == hash_key(b"pepper", KEY)
    assert len({hash_key(b"pepper", KEY), hash_key(b"salt", KEY), hash_key(b"pepper", "x")}) == 3
    assert KEY not in hash_key(b"pepper", KEY)
    assert "hash" not in repr(stored()).replace("api_key_hash", "")
    keys = {"vams_" + new_secret() for _ in range(50)}
    assert len(keys) == 50
    assert all(key_in(key) == key for key in keys)
    assert with_prefix("abc") == "vams_abc"
    assert with_prefix(with_prefix("abc")) == "vams_abc"


@pytest.mark.parametrize(
    ("expires_at", "last_valid"),
    [
        ("2026-03-01", datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 11, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01T12:00:00", datetime(2026, 3, 1, 11, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01T12:00:00+02:00", datetime(2026, 3, 1, 9, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01 12:00:00.5Z", datetime(2026, 3, 1, 12, 0, 0, 499999, tzinfo=UTC)),
    ],
)
def test_a_key_is_valid_up_to_its_expiry_and_not_beyond(
    expires_at: str, last_valid: datetime
) -> None:
    assert not is_expired(expires_at, last_valid)
    assert is_expired(expires_at, last_valid + timedelta(microseconds=1))


def test_an_expiry_ends_in_utc_and_a_use_covers_an_hour() -> None:
    east = timezone(timedelta(hours=14))
    assert not is_expired("2026-03-01", datetime(2026, 3, 2, 13, 59, tzinfo=east))
    assert is_expired("2026-03-01", datetime(2026, 3, 2, 14, 0, tzinfo=east))
    assert not is_expired("", datetime.max.replace(tzinfo=UTC))
    for last in ("9999-12-31", "9999-12-31T23:59:59-14:00"):
        assert not is_expired(last, NOON)
    assert is_recent_use("2026-03-01T11:00:00.000001Z", NOON)
    assert not is_recent_use("2026-03-01T11:00:00.000000Z", NOON)
    for unknown in (None, "", "lately", "2026-03-01T11:59:59"):
        assert not is_recent_use(unknown, NOON)


@pytest.mark.parametrize("expires_at", ["soon", "0001-01-01", "0001-01-01T00:00:00+14:00", "∞"])
def test_an_expiry_that_is_past_or_unreadable_closes_the_key(expires_at: str) -> None:
    assert is_expired(expires_at, NOON)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_active": "false"}, Reason.KEY_DISABLED),
        ({"is_active": ""}, Reason.KEY_DISABLED),
        ({"is_active": "yes"}, Reason.KEY_DISABLED),
        ({"expires_at": "2026-02-28"}, Reason.KEY_EXPIRED),
    ],
)
def test_a_valid_key_is_opened_by_its_hash(changes: dict[str, str], reason: Reason) -> None:
    check_valid(stored(), "hash", NOON)
    with pytest.raises(RefusedError) as refused:
        check_valid(stored(), "other", NOON)
    assert (refused.value.reason, dict(refused.value.facts)) == (Reason.KEY_UNKNOWN, {})
    with pytest.raises(RefusedError) as refused:
        check_valid(stored(**changes), "hash", NOON)
    assert (refused.value.reason, dict(refused.value.facts)) == (reason, {"apiKeyId": "id"})


PEPPER = b"pepper"
SECRET = "vams_" + "n" * 64


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables of which one index lags."""
    return dynamo_tables


@dataclass(eq=False, repr=False)
class LaggingIndex(DynamoTables):
    """Tables whose global indexes answer what they held at the start."""

    rows: tuple[Item, ...] = ()

    def query(self, query: Query, page: PageRequest) -> Page[Item]:
        return Page(self.rows) if query.index is not None else DynamoTables.query(self, query, page)


class World:
    """A key of the user `robot`, the authentication by keys, and a clock that the test moves."""

    def __init__(self, tables: DynamoTables, now: datetime) -> None:
        self.tables, self.at, self.keys = tables, now, ApiKeyRepository(tables)
        self.keys.put_new(
            ApiKey(
                api_key_id="key-1",
                api_key_name="name",
                api_key_hash=hash_key(PEPPER, KEY),
                description="text",
                user_id="robot",
                revision=1,
            )
        )
        self.authentication = self.authentication_over(tables)
        roles = AssignedRoles(GrantRepository(tables))
        self.administrators = Administrators(
            self.keys, ProfileRepository(tables), roles, lambda: PEPPER, self.clock
        )

    def clock(self) -> datetime:
        return self.at

    def authentication_over(
        self, tables: DynamoTables, pepper: Callable[[], bytes] = lambda: PEPPER
    ) -> KeyAuthentication:
        return KeyAuthentication(ApiKeyRepository(tables), pepper, self.clock, lambda: None)

    def use(self) -> object:
        """Return the last use of the key, after another one."""
        self.authentication.record_use(self.authentication.authenticate(KEY))
        return (self.tables.get(API_KEYS, {"apiKeyId": "key-1"}) or {}).get("lastUsedAt")

    def rows(self) -> list[Item]:
        page = PageRequest(100)
        pages = [self.tables.scan(table, page) for table in (ROLES, USERS, USER_ROLES, API_KEYS)]
        return [item for rows in pages for item in rows.items]


@pytest.fixture
def world(tables: DynamoTables, now: datetime) -> World:
    return World(tables, now)


def refused(authentication: KeyAuthentication, text: str) -> None:
    with pytest.raises(RefusedError):
        authentication.authenticate(text)


def test_a_key_identifies_its_user_and_is_used_once_an_hour(world: World) -> None:
    assert world.authentication.authenticate(KEY).user_id == "robot"
    refused(world.authentication, "vams_" + "x" * 64)
    refused(world.authentication_over(world.tables, lambda: b"other"), KEY)
    first = world.use()
    assert first == "2026-03-01T12:00:00.000000Z"
    world.at += timedelta(minutes=59)
    assert world.use() == first
    world.at += timedelta(minutes=1)
    assert world.use() == "2026-03-01T13:00:00.000000Z"


@pytest.mark.parametrize(
    "change",
    [
        Update(table=API_KEYS, key={"apiKeyId": "key-1"}, set={"isActive": "false"}),
        Update(table=API_KEYS, key={"apiKeyId": "key-1"}, set={"expiresAt": "2026-02-28"}),
        Update(table=API_KEYS, key={"apiKeyId": "key-1"}, set={"apiKeyHash": "another"}),
        Delete(table=API_KEYS, key={"apiKeyId": "key-1"}),
    ],
    ids=["disabled", "expired", "rehashed", "deleted"],
)
def test_a_closed_key_is_closed_at_once_though_the_index_lags(
    world: World, change: Update | Delete
) -> None:
    rows = tuple(world.tables.scan(API_KEYS, PageRequest(10)).items)
    stale = LaggingIndex(world.tables.client, world.tables.settings, rows=rows)
    behind = world.authentication_over(stale)
    assert behind.authenticate(KEY).api_key_id == "key-1"
    world.tables.write(change)
    refused(behind, KEY)


def test_a_use_disturbs_no_other_and_a_new_secret_replaces_a_key(world: World) -> None:
    key, seen = world.authentication.authenticate(KEY), world.keys.get("key-1")
    assert seen is not None
    for _ in range(2):
        world.authentication.record_use(key)
    assert world.keys.change(seen, {"isActive": "false"}).is_active == "false"
    world.tables.write(Delete(table=API_KEYS, key={"apiKeyId": "key-1"}))
    world.authentication.record_use(key)
    assert world.tables.get(API_KEYS, {"apiKeyId": "key-1"}) is None
    other = "vams_" + "m" * 64
    world.administrators.ensure("boss", other)
    world.administrators.ensure("boss", SECRET)
    refused(world.authentication, other)
    assert world.authentication.authenticate(SECRET).user_id == "boss"


def test_the_first_administrator_is_created_once_and_can_authenticate(world: World) -> None:
    world.administrators.ensure("boss", SECRET)
    user_id = world.authentication.authenticate(SECRET).user_id
    assert user_id == "boss"
    assert PolicyRepository(world.tables).granted(user_id, mfa=False).roles == {ADMIN_ROLE}
    assert SECRET not in str(world.rows())
    key = world.keys.get(ADMIN_KEY_ID)
    assert key is not None
    world.keys.change(key, {"isActive": "false"})
    before = world.rows()
    world.at += timedelta(days=1)
    world.administrators.ensure("boss", SECRET)
    assert world.rows() == before
