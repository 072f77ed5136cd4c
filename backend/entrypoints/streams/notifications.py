"""The function that notifies subscribers, from the stream of audit entries."""

from backend.entrypoints import ready
from backend.entrypoints.subscriptions import SubscriptionsWiring
from backend.spec.functions.workers import NOTIFIER

handler = ready(SubscriptionsWiring(NOTIFIER).notifier_handler)
