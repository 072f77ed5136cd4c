"""The table of subscriptions, by access pattern. `others` are writes of the same transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.core.paging import Page, PageRequest
from backend.core.rates import count_in_minute
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
from backend.domains.subscriptions.errors import SubscriptionChangedError
from backend.domains.subscriptions.models import Subscription
from backend.spec.keys import SUBSCRIBED_ENTITY
from backend.spec.tables.registry import SUBSCRIPTION_ENTITY, SUBSCRIPTION_EVENT, SUBSCRIPTIONS

_EVENT = SUBSCRIPTIONS.partition_key.name


@dataclass(eq=False, repr=False)
class SubscriptionRepository:
    tables: Tables

    def get(self, asset_id: str) -> Subscription | None:
        item = self.tables.get(SUBSCRIPTIONS, _key(asset_id))
        return None if item is None else Subscription.model_validate(item)

    def get_many(self, asset_ids: Iterable[str]) -> dict[str, Subscription]:
        """Return the subscribers of those assets that have any, by asset."""
        items = self.tables.get_many([(SUBSCRIPTIONS, _key(asset_id)) for asset_id in asset_ids])
        rows = [Subscription.model_validate(item) for _, item in items]
        return {row.entity_id: row for row in rows}

    def list_all(self, page: PageRequest) -> Page[Subscription]:
        """List subscriptions by asset id."""
        query = Query(table=SUBSCRIPTIONS, partition=SUBSCRIPTION_EVENT, consistent=True)
        return self.tables.query(query, page).map(Subscription.model_validate)

    def put_new(self, row: Subscription, *others: Write) -> None:
        item = row.model_dump(by_alias=True, exclude_none=True)
        new = put_new(SUBSCRIPTIONS, item, SubscriptionChangedError(row.entity_id))
        self.tables.transact([new, *others])

    def change(
        self, row: Subscription, subscribers: Sequence[str], database_id: str, *others: Write
    ) -> None:
        """Set the subscribers, if they are unchanged since they were read."""
        update = Update(
            table=SUBSCRIPTIONS,
            key=_key(row.entity_id),
            set={"subscribers": list(subscribers), "databaseId": database_id},
            add={"revision": 1},
            conditions=_require_unchanged(row),
            refused=SubscriptionChangedError(row.entity_id),
        )
        self.tables.transact([update, *others])

    def count_new(self, user_id: str, added: int, *, minute: int) -> int:
        """Count subscribers that a user adds in this minute (of all since 1970); return the sum."""
        return count_in_minute(self.tables, "SubscribeRate", user_id, added, minute=minute)

    def delete(self, row: Subscription, *others: Write) -> None:
        """Remove the row, if it is unchanged since it was read."""
        gone = Delete(
            table=SUBSCRIPTIONS,
            key=_key(row.entity_id),
            conditions=_require_unchanged(row),
            refused=SubscriptionChangedError(row.entity_id),
        )
        self.tables.transact([gone, *others])


def key_of(asset_id: str) -> str:
    """Return the sort key of an asset's subscribers."""
    return SUBSCRIBED_ENTITY.build(SUBSCRIPTION_ENTITY, asset_id)


def _key(asset_id: str) -> dict[str, str]:
    return {_EVENT: SUBSCRIPTION_EVENT, SUBSCRIBED_ENTITY.name: key_of(asset_id)}


def _require_unchanged(row: Subscription) -> tuple[Condition, ...]:
    seen = absent("revision") if row.revision is None else equals("revision", row.revision)
    return (exists(_EVENT), seen)
