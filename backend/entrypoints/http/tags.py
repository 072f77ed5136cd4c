"""The function of the domain tags."""

from backend.domains.tags.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import TAGS_API

_wiring = Wiring(TAGS_API)
handler = ready(_wiring.app.handler(build_router(_wiring.tags)))
