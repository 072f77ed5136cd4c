"""The function of the domain subscriptions."""

from backend.domains.subscriptions.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.subscriptions import subscriptions
from backend.spec.functions.apis import SUBSCRIPTIONS_API

handler = serve(SUBSCRIPTIONS_API, lambda context: build_router(subscriptions(context)))
