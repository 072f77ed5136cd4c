"""The function of the domain asset_links."""

from backend.domains.asset_links.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.asset_links import asset_links, link_metadata, link_reader
from backend.spec.functions.apis import ASSET_LINKS_API

handler = serve(
    ASSET_LINKS_API,
    lambda context: build_router(
        asset_links(context), link_reader(context), link_metadata(context)
    ),
)
