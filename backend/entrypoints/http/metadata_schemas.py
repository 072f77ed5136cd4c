"""The function of the domain metadata_schemas."""

from backend.domains.metadata_schemas.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import METADATA_SCHEMAS_API

_wiring = Wiring(METADATA_SCHEMAS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.metadata_schemas)))
