"""The function behind the routes of audit entries."""

from backend.domains.audit.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.wiring import Wiring
from backend.spec.functions.apis import AUDIT_API

_wiring = Wiring(AUDIT_API)
handler = ready(_wiring.app.handler(build_router(_wiring.audit_trail)))
