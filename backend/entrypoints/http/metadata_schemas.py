"""The function of the domain metadata_schemas."""

from backend.domains.metadata_schemas.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.metadata_schemas import metadata_schemas
from backend.spec.functions.apis import METADATA_SCHEMAS_API

handler = serve(METADATA_SCHEMAS_API, lambda context: build_router(metadata_schemas(context)))
