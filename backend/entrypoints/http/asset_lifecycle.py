"""The function behind the routes that archive, restore and delete assets."""

from backend.domains.asset_lifecycle.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.asset_lifecycle import lifecycle, version_lifecycle
from backend.spec.functions.apis import LIFECYCLE_API

handler = serve(
    LIFECYCLE_API, lambda context: build_router(lifecycle(context), version_lifecycle(context))
)
