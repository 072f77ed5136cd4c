"""Notifies the subscribers of an asset of its changes."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.core.authorization import Authorization
from backend.core.identity import Identity
from backend.core.notifications import Notifications
from backend.core.references import AssetRef
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.domains.identity.service.profiles import EmailAddresses
from backend.domains.subscriptions import rules
from backend.domains.subscriptions.repository import SubscriptionRepository
from backend.domains.subscriptions.rules import Notification


@dataclass(eq=False, repr=False)
class Notifier:
    """Subscribers who may not see the asset now are not notified."""

    subscriptions: SubscriptionRepository
    assets: AssetService
    addresses: EmailAddresses
    authorization: Authorization
    notifications: Notifications

    def notify(self, happenings: Iterable[Notification]) -> int:
        """Send one message for each asset; return their number.

        May be repeated: then users are notified again.

        Raises:
            UnavailableError: SNS or a table does not respond; some may have been notified.
        """
        by_asset = rules.by_asset(happenings)
        rows = self.subscriptions.get_many(dict.fromkeys(ref.asset_id for ref in by_asset))
        sent = 0
        for ref, done in by_asset.items():
            row = rows.get(ref.asset_id)
            if row is not None and self._sent(ref, row.subscribers, done):
                sent += 1
        return sent

    def _sent(self, ref: AssetRef, subscribers: list[str], done: list[Notification]) -> bool:
        asset = self.assets.find_asset(*ref.ids)
        if asset is None:
            return False
        seen = secured(asset)
        users = [
            user for user in subscribers if self.authorization.may(Identity(user), "GET", seen)
        ]
        emails = self.addresses.of_users(users).values() if users else ()
        if not emails:
            return False
        self.notifications.send(
            emails,
            subject=rules.message_subject(asset.asset_name),
            text=rules.message_text(asset.asset_name, done),
        )
        return True
