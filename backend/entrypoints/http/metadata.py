"""The function of the domain metadata."""

from backend.domains.metadata.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.asset_links import link_metadata
from backend.entrypoints.wiring.metadata import metadata
from backend.spec.functions.apis import METADATA_API

handler = serve(
    METADATA_API, lambda context: build_router(metadata(context), link_metadata(context))
)
