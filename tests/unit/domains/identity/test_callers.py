"""Whose key a request carries, who is an administrator, and how the first one is made."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from backend.aws.tables import DynamoTables
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
from backend.domains.identity.rules.keys import hash_key
from backend.domains.identity.rules.refusals import RefusedError
from backend.domains.identity.service.authentication import KeyAuthentication
from backend.domains.identity.service.first_administrator import ADMIN_KEY_ID, Administrators
from backend.spec.tables.access import API_KEYS, ROLES, USER_ROLES, USERS

PEPPER = b"pepper"
KEY = "vams_" + "k" * 64


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables of which one index lags."""
    return dynamo_tables


@dataclass
class ManualClock:
    """A clock that the test moves."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def hand(now: datetime) -> ManualClock:
    return ManualClock(now)


@pytest.fixture
def keys(tables: DynamoTables) -> ApiKeyRepository:
    return ApiKeyRepository(tables)


@pytest.fixture
def authentication(keys: ApiKeyRepository, hand: ManualClock) -> KeyAuthentication:
    keys.put_new(
        ApiKey(
            api_key_id="key-1",
            api_key_name="name",
            api_key_hash=hash_key(PEPPER, KEY),
            description="text",
            user_id="robot",
            revision=1,
        )
    )
    return KeyAuthentication(keys, lambda: PEPPER, hand, lambda: None)


def refused(authentication: KeyAuthentication, text: str) -> None:
    with pytest.raises(RefusedError):
        authentication.authenticate(text)


def test_a_key_names_its_user(authentication: KeyAuthentication) -> None:
    assert authentication.authenticate(KEY).user_id == "robot"


def test_another_key_identifies_no_one(authentication: KeyAuthentication) -> None:
    refused(authentication, "vams_" + "x" * 64)


def test_a_key_hashed_with_another_pepper_identifies_no_one(
    authentication: KeyAuthentication, hand: ManualClock
) -> None:
    other = KeyAuthentication(authentication.keys, lambda: b"other", hand, lambda: None)
    refused(other, KEY)


@dataclass(eq=False, repr=False)
class LaggingIndex(DynamoTables):
    """Tables whose global indexes answer what they held at the start."""

    rows: tuple[Item, ...] = ()

    def query(self, query: Query, page: PageRequest) -> Page[Item]:
        return Page(self.rows) if query.index is not None else DynamoTables.query(self, query, page)


def lagging(tables: DynamoTables, hand: ManualClock) -> KeyAuthentication:
    rows = tuple(tables.scan(API_KEYS, PageRequest(10)).items)
    stale = LaggingIndex(tables.client, tables.settings, rows=rows)
    return KeyAuthentication(ApiKeyRepository(stale), lambda: PEPPER, hand, lambda: None)


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
    authentication: KeyAuthentication,
    tables: DynamoTables,
    hand: ManualClock,
    change: Update | Delete,
) -> None:
    behind = lagging(tables, hand)
    assert behind.authenticate(KEY).api_key_id == "key-1"
    tables.write(change)
    refused(behind, KEY)


def last_use(tables: DynamoTables) -> object:
    return (tables.get(API_KEYS, {"apiKeyId": "key-1"}) or {}).get("lastUsedAt")


def use(authentication: KeyAuthentication) -> None:
    key = authentication.authenticate(KEY)
    authentication.record_use(key)


def test_a_use_is_recorded_once_an_hour(
    authentication: KeyAuthentication, tables: DynamoTables, hand: ManualClock
) -> None:
    use(authentication)
    first = last_use(tables)
    assert first == "2026-03-01T12:00:00.000000Z"
    hand.at += timedelta(minutes=59)
    use(authentication)
    assert last_use(tables) == first
    hand.at += timedelta(minutes=1)
    use(authentication)
    assert last_use(tables) == "2026-03-01T13:00:00.000000Z"


def test_two_uses_at_once_do_not_disturb_each_other(
    authentication: KeyAuthentication, hand: ManualClock
) -> None:
    key = authentication.authenticate(KEY)
    authentication.record_use(key)
    authentication.record_use(key)


def test_recording_a_use_restores_no_deleted_key(
    authentication: KeyAuthentication, tables: DynamoTables
) -> None:
    key = authentication.authenticate(KEY)
    tables.write(Delete(table=API_KEYS, key={"apiKeyId": "key-1"}))
    authentication.record_use(key)
    assert tables.get(API_KEYS, {"apiKeyId": "key-1"}) is None


def test_a_use_does_not_stand_in_the_way_of_a_change(
    authentication: KeyAuthentication, keys: ApiKeyRepository
) -> None:
    seen = keys.get("key-1")
    assert seen is not None
    use(authentication)
    assert keys.change(seen, {"isActive": "false"}).is_active == "false"


@pytest.fixture
def administrators(
    tables: DynamoTables, keys: ApiKeyRepository, hand: ManualClock
) -> Administrators:
    return Administrators(
        keys,
        ProfileRepository(tables),
        AssignedRoles(GrantRepository(tables)),
        lambda: PEPPER,
        hand,
    )


def everything(tables: DynamoTables) -> list[Item]:
    found = [tables.scan(t, PageRequest(100)).items for t in (ROLES, USERS, USER_ROLES, API_KEYS)]
    return [item for items in found for item in items]


def test_the_first_administrator_can_authenticate(
    administrators: Administrators, tables: DynamoTables, keys: ApiKeyRepository, hand: ManualClock
) -> None:
    administrators.ensure("boss", KEY)
    found = KeyAuthentication(keys, lambda: PEPPER, hand, lambda: None).authenticate(KEY)
    assert PolicyRepository(tables).granted(found.user_id, mfa=False).roles == {ADMIN_ROLE}
    assert KEY not in str(everything(tables))


def test_establishing_again_changes_nothing(
    administrators: Administrators, tables: DynamoTables, keys: ApiKeyRepository, hand: ManualClock
) -> None:
    administrators.ensure("boss", KEY)
    key = keys.get(ADMIN_KEY_ID)
    assert key is not None
    keys.change(key, {"isActive": "false"})
    before = everything(tables)
    hand.at += timedelta(days=1)
    administrators.ensure("boss", KEY)
    assert everything(tables) == before


def test_a_new_secret_replaces_the_key(
    administrators: Administrators, keys: ApiKeyRepository, hand: ManualClock
) -> None:
    administrators.ensure("boss", KEY)
    administrators.ensure("boss", "vams_" + "n" * 64)
    authentication = KeyAuthentication(keys, lambda: PEPPER, hand, lambda: None)
    refused(authentication, KEY)
    assert authentication.authenticate("vams_" + "n" * 64).user_id == "boss"
