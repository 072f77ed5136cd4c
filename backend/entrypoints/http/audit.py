"""The function behind the routes of audit entries."""

from backend.domains.audit.routes import build_router
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.audit import audit_trail
from backend.spec.functions.apis import AUDIT_API

handler = serve(AUDIT_API, lambda context: build_router(audit_trail(context)))
