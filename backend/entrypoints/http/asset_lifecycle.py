"""The function behind the routes that archive, restore and delete assets."""

from backend.domains.asset_lifecycle.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.lifecycle import LifecycleWiring
from backend.spec.functions.apis import LIFECYCLE_API

_wiring = LifecycleWiring(LIFECYCLE_API)
_router = build_router(_wiring.lifecycle, _wiring.version_lifecycle)
handler = ready(_wiring.app.handler(_router))
