"""The function of the domain asset versions."""

from backend.domains.asset_versions.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.asset_versions import VersionWiring
from backend.spec.functions.apis import ASSET_VERSIONS_API

_wiring = VersionWiring(ASSET_VERSIONS_API)
_router = build_router(_wiring.version_creation, _wiring.version_queries, _wiring.version_updates)
handler = ready(_wiring.app.handler(_router))
