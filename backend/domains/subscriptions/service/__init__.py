"""What can be done with subscriptions, and how those who subscribed are told."""

from backend.domains.subscriptions.service.commands import Listed, SubscriptionService
from backend.domains.subscriptions.service.notifying import Notifier

__all__ = ["Listed", "Notifier", "SubscriptionService"]
