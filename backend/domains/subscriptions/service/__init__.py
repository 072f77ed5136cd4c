"""Operations on subscriptions, and notifications of subscribers."""

from backend.domains.subscriptions.service.commands import Listed, SubscriptionService
from backend.domains.subscriptions.service.notifications import Notifier

__all__ = ["Listed", "Notifier", "SubscriptionService"]
