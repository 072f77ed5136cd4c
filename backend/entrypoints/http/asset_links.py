"""The function of the domain asset_links."""

from backend.domains.asset_links.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.asset_links import LinkWiring
from backend.spec.functions.apis import ASSET_LINKS_API

_wiring = LinkWiring(ASSET_LINKS_API)
handler = ready(
    _wiring.app.handler(
        build_router(_wiring.asset_links, _wiring.link_reader, _wiring.link_metadata)
    )
)
