"""The function that tells those who subscribed, as the stream of audit entries says."""

from backend.entrypoints import ready
from backend.entrypoints.subscriptions import SubscriptionsWiring
from backend.spec.functions import NOTIFIER

handler = ready(SubscriptionsWiring(NOTIFIER).notifier_handler)
