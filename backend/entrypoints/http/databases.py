"""The function of the domain databases."""

from backend.domains.databases.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import DATABASES_API

_wiring = Wiring(DATABASES_API)
handler = ready(_wiring.app.handler(build_router(_wiring.databases, _wiring.database_purges)))
