"""The function of the domain assets."""

from backend.domains.assets.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.assets import assets
from backend.spec.functions.apis import ASSETS_API

handler = serve(ASSETS_API, lambda context: build_router(assets(context)))
