"""The function of the domain subscriptions."""

from backend.domains.subscriptions.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.subscriptions import SubscriptionsWiring
from backend.spec.functions.apis import SUBSCRIPTIONS_API

_wiring = SubscriptionsWiring(SUBSCRIPTIONS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.subscriptions)))
