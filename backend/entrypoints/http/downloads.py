"""The function of the domain downloads."""

from backend.domains.downloads.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.downloads import DownloadWiring
from backend.spec.functions.apis import DOWNLOADS_API

_wiring = DownloadWiring(DOWNLOADS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.downloads, _wiring.streams)))
