"""The function of the domain asset versions."""

from functools import partial

from backend.domains.asset_versions.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.asset_versions import (
    version_creation,
    version_queries,
    version_updates,
)
from backend.spec.functions.apis import ASSET_VERSIONS_API

handler = serve(
    ASSET_VERSIONS_API,
    lambda context: build_router(
        partial(version_creation, context), version_queries(context), version_updates(context)
    ),
)
