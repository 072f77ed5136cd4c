"""Subscribes users to assets. Any caller who may see an asset may see its subscribers."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.attempts import attempts
from backend.core.clock import Clock, epoch_seconds
from backend.core.errors import InvalidInputError, RateLimitedError
from backend.core.identity import Identity
from backend.core.notifications import Notifications
from backend.core.paging import Page, PageRequest, fill, json_bytes
from backend.core.parallel import in_parallel
from backend.core.references import AssetRef
from backend.core.transactions import Put, Write
from backend.domains.assets.models import Asset
from backend.domains.assets.service.queries import AssetQueries
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.service.profiles import EmailAddresses
from backend.domains.subscriptions.errors import (
    SubscriptionChangedError,
    SubscriptionExistsError,
    SubscriptionNotFoundError,
)
from backend.domains.subscriptions.models import (
    MAX_SUBSCRIBERS,
    Subscription,
    SubscriptionBody,
)
from backend.domains.subscriptions.repository import SubscriptionRepository, key_of
from backend.spec.tables.registry import SUBSCRIPTION_ENTITY, SUBSCRIPTION_EVENT

_ATTEMPTS = 8  # of a change that conflicts with others of the asset


class Listed(NamedTuple):
    """A subscription with its asset, if the caller may see it."""

    row: Subscription
    asset: Asset | None


@dataclass(eq=False, repr=False)
class SubscriptionService:
    """Addresses are subscribed to SNS before the table lists them.

    A failure in between leaves an address without messages.
    """

    subscriptions: SubscriptionRepository
    assets: AssetQueries
    addresses: EmailAddresses
    notifications: Notifications
    audit: AuditService
    clock: Clock
    per_minute: Callable[[], int]
    """Returns how many users one caller may subscribe in a minute."""

    def list_subscriptions(self, caller: Identity, page: PageRequest) -> Page[Listed]:
        """List subscriptions to active assets that the caller may see, by asset id."""
        return fill(
            lambda request: self._with_assets(caller, request),
            page,
            visible=lambda listed: listed.asset is not None,
            position_of=lambda listed: {
                "eventName": listed.row.event_name,
                "entityName_entityId": listed.row.key,
            },
            size_of=lambda listed: json_bytes(listed.row),
        )

    @attempts(_ATTEMPTS, SubscriptionChangedError)
    def create_subscription(self, caller: Identity, body: SubscriptionBody) -> None:
        """Subscribe further users to an asset.

        Raises:
            InvalidInputError: one of them is unknown or has no confirmed address, or there would be
                too many.
            RateLimitedError: the caller has subscribed too many users in this minute.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            SubscriptionExistsError: one of them is subscribed already.
        """
        sent = _named_users(caller, body)
        asset = self.assets.asset_by_id(caller, "POST", body.entity_id)
        subscription = self.subscriptions.get(asset.asset_id)
        subscribers = subscription.subscribers if subscription is not None else []
        for user_id in sent:
            if user_id in subscribers:
                raise SubscriptionExistsError(asset.asset_id, user_id)
        if len(subscribers) + len(sent) > MAX_SUBSCRIBERS:
            raise InvalidInputError.of(
                "subscribers", f"an asset can have at most {MAX_SUBSCRIBERS} subscribers"
            )
        self._make_known(caller, sent)
        users = [*subscribers, *sent]
        active = self.assets.require_active(asset)
        return self._write(caller, "create_subscription", asset, subscription, users, active)

    @attempts(_ATTEMPTS, SubscriptionChangedError)
    def update_subscription(self, caller: Identity, body: SubscriptionBody) -> None:
        """Replace the subscribers of an asset.

        Raises:
            InvalidInputError: a new one is unknown or has no confirmed address.
            RateLimitedError: the caller has subscribed too many users in this minute.
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            SubscriptionNotFoundError: the asset has no subscribers.
        """
        sent = _named_users(caller, body)
        asset = self.assets.asset_by_id(caller, "PUT", body.entity_id)
        subscription = self._found(asset)
        self._make_known(caller, set(sent) - set(subscription.subscribers))
        users, active = sent, self.assets.require_active(asset)
        return self._write(caller, "update_subscription", asset, subscription, users, active)

    @attempts(_ATTEMPTS, SubscriptionChangedError)
    def delete_subscription(self, caller: Identity, body: SubscriptionBody) -> None:
        """Remove all subscribers of an asset.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            SubscriptionNotFoundError: the asset has no subscribers.
        """
        asset = self.assets.asset_by_id(caller, "DELETE", body.entity_id)
        subscription = self._found(asset)
        return self._write(caller, "delete_subscription", asset, subscription, [])

    @attempts(_ATTEMPTS, SubscriptionChangedError)
    def unsubscribe(self, caller: Identity, body: SubscriptionBody) -> None:
        """Unsubscribe users from an asset: all of them, or none.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            SubscriptionNotFoundError: one of them is not subscribed.
        """
        sent = _named_users(caller, body)
        # Also of archived assets: archiving and restoring send messages too.
        asset = self.assets.asset_by_id(caller, "POST", body.entity_id, show_archived=True)
        subscription = self._found(asset)
        for user_id in sent:
            if user_id not in subscription.subscribers:
                raise SubscriptionNotFoundError(asset.asset_id, user_id)
        left = [user for user in subscription.subscribers if user not in sent]
        return self._write(caller, "unsubscribe", asset, subscription, left)

    def is_subscribed(self, caller: Identity, user_id: str, asset_id: str) -> bool:
        """Return whether a user is subscribed to an asset.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
        """
        asset = self.assets.asset_by_id(caller, "GET", asset_id)
        subscription = self.subscriptions.get(asset.asset_id)
        return subscription is not None and caller.named(user_id) in subscription.subscribers

    def _found(self, asset: Asset) -> Subscription:
        subscription = self.subscriptions.get(asset.asset_id)
        if subscription is None:
            raise SubscriptionNotFoundError(asset.asset_id)
        return subscription

    def _make_known(self, caller: Identity, users: Collection[str]) -> None:
        if not users:
            return
        wanted = sorted(users)
        # Before anything is read: each address may cost an e-mail, and each guess a request.
        self._limit_rate(caller, len(wanted))
        known = self.addresses.of_known_users(wanted)
        for user_id in wanted:
            if user_id not in known:
                raise InvalidInputError.of(
                    "subscribers", f"user {user_id} has no verified email address"
                )
        in_parallel(self.notifications.add_address, sorted(set(known.values())))

    def _limit_rate(self, caller: Identity, added: int) -> None:
        now, limit = epoch_seconds(self.clock()), self.per_minute()
        if self.subscriptions.count_new(caller.user_id, added, minute=now // 60) > limit:
            raise RateLimitedError(
                f"More than {limit} users were subscribed within this minute",
                retry_after=60 - now % 60,
            )

    def _write(
        self,
        caller: Identity,
        operation: str,
        asset: Asset,
        subscription: Subscription | None,
        users: Sequence[str],
        *demands: Write,
    ) -> None:
        entry = self._entry(caller, operation, asset, subscription, users)
        if subscription is None:
            row = Subscription(
                event_name=SUBSCRIPTION_EVENT,
                key=key_of(asset.asset_id),
                subscribers=list(users),
                database_id=asset.database_id,
                revision=1,
            )
            self.subscriptions.put_new(row, *demands, entry)
        elif users:
            self.subscriptions.change(subscription, users, asset.database_id, *demands, entry)
        else:
            self.subscriptions.delete(subscription, *demands, entry)

    def _entry(
        self,
        caller: Identity,
        operation: str,
        asset: Asset,
        subscription: Subscription | None,
        users: Sequence[str],
    ) -> Put:
        return self.audit.entry(
            caller,
            operation,
            audit_entity("subscription", SUBSCRIPTION_ENTITY, asset.asset_id),
            before=None if subscription is None else {"subscribers": subscription.subscribers},
            after={"subscribers": list(users)} if users else None,
        )

    def _with_assets(self, caller: Identity, page: PageRequest) -> Page[Listed]:
        rows = self.subscriptions.list_all(page)
        references: list[AssetRef] = []
        for row in rows.items:
            database_id = row.database_id or self.assets.database_of(row.entity_id)
            if database_id is not None:
                references.append(AssetRef(database_id=database_id, asset_id=row.entity_id))
        visible = self.assets.visible(caller, references)
        listed = [Listed(row, visible.get(row.entity_id)) for row in rows.items]
        return Page(tuple(listed), rows.after)


def _named_users(caller: Identity, body: SubscriptionBody) -> list[str]:
    """Return the users whom a request names, each once."""
    return list(dict.fromkeys(map(caller.named, body.subscribers)))
