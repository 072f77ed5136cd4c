"""The table of API keys, by access pattern."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Condition,
    Delete,
    Update,
    Write,
    absent,
    equals,
    exists,
    put_new,
)
from backend.domains.identity.errors import ApiKeyExistsError, ApiKeyRevisionError
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.models.users import User
from backend.spec.tables.access import (
    API_KEYS,
    API_KEYS_BY_HASH,
    API_KEYS_BY_USER,
    USER_ID,
    USERS,
)

_KEY = API_KEYS.partition_key.name
_LAST_USED = "lastUsedAt"


@dataclass(eq=False, repr=False)
class ApiKeyRepository:
    """API keys; `others` are writes of the same transaction."""

    tables: Tables

    def get(self, api_key_id: str) -> ApiKey | None:
        item = self.tables.get(API_KEYS, {_KEY: api_key_id})
        return None if item is None else ApiKey.model_validate(item)

    def get_many(self, api_key_ids: Iterable[str]) -> dict[str, ApiKey]:
        """Return the keys that exist, by id."""
        rows = self.tables.get_many([(API_KEYS, {_KEY: key_id}) for key_id in api_key_ids])
        return {key.api_key_id: key for key in (ApiKey.model_validate(item) for _, item in rows)}

    def find_by_hash(self, key_hash: str) -> ApiKey | None:
        """Return the key with a hash from the index, which is eventually consistent."""
        query = Query(table=API_KEYS, index=API_KEYS_BY_HASH, partition=key_hash)
        items = self.tables.query(query, PageRequest(1)).items
        return ApiKey.model_validate(items[0]) if items else None

    def get_for_use(self, indexed: ApiKey) -> tuple[dict[str, ApiKey], User | None]:
        """Read a key, the keys that it descends from and its user's row, all consistently."""
        # The lineage of a key never changes, so the index's copy names the same keys.
        wanted = [(API_KEYS, {_KEY: key_id}) for key_id in indexed.lineage]
        rows = self.tables.get_many([*wanted, (USERS, {USER_ID.name: indexed.user_id})])
        keys = [ApiKey.model_validate(item) for table, item in rows if table == API_KEYS]
        users = [User.model_validate(item) for table, item in rows if table == USERS]
        return {key.api_key_id: key for key in keys}, users[0] if users else None

    def list_registry(self, page: PageRequest) -> Page[ApiKey]:
        """List keys in no order."""
        return self.tables.scan(API_KEYS, page).map(ApiKey.model_validate)

    def list_of_user(self, user_id: str, page: PageRequest) -> Page[ApiKey]:
        """List a user's keys and sessions by id from the index, which is eventually consistent."""
        query = Query(table=API_KEYS, index=API_KEYS_BY_USER, partition=user_id)
        return self.tables.query(query, page).map(ApiKey.model_validate)

    def put_new(self, key: ApiKey, *others: Write) -> None:
        item = key.model_dump(by_alias=True, exclude_none=True)
        new = put_new(API_KEYS, item, ApiKeyExistsError(key.api_key_id))
        self.tables.transact([new, *others])

    def change(self, key: ApiKey, changes: Mapping[str, Any], *others: Write) -> ApiKey:
        """Set some attributes, if the key is unchanged since it was read; None removes one."""
        update = Update(
            table=API_KEYS,
            key={_KEY: key.api_key_id},
            set={name: value for name, value in changes.items() if value is not None},
            remove=tuple(name for name, value in changes.items() if value is None),
            add={"revision": 1},
            conditions=_require_unchanged(key),
            refused=ApiKeyRevisionError(key.api_key_id),
        )
        self.tables.transact([update, *others])
        now = key.model_dump(by_alias=True) | dict(changes)
        return ApiKey.model_validate(now | {"revision": key.revision + 1})

    def record_use(self, key: ApiKey, at: str) -> None:
        """Record a use, unless another request has done so since, or the key was deleted."""
        seen = equals(_LAST_USED, key.last_used_at) if key.last_used_at else absent(_LAST_USED)
        refused = ApiKeyRevisionError(key.api_key_id)
        with suppress(ApiKeyRevisionError):
            self.tables.write(
                Update(
                    table=API_KEYS,
                    key={_KEY: key.api_key_id},
                    # Without the revision: a use never conflicts with a change.
                    set={_LAST_USED: at},
                    conditions=(exists(_KEY), seen),
                    refused=refused,
                )
            )

    def removal(self, api_key_id: str) -> Delete:
        """Return the write that deletes a key, if it still exists."""
        return Delete(table=API_KEYS, key={_KEY: api_key_id})

    def delete(self, key: ApiKey, *others: Write) -> None:
        """Delete the key, if it is unchanged since it was read."""
        gone = Delete(
            table=API_KEYS,
            key={_KEY: key.api_key_id},
            conditions=_require_unchanged(key),
            refused=ApiKeyRevisionError(key.api_key_id),
        )
        self.tables.transact([gone, *others])


def _require_unchanged(key: ApiKey) -> tuple[Condition, ...]:
    seen = equals("revision", key.revision) if key.revision else absent("revision")
    return (exists(_KEY), seen)
