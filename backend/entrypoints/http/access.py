"""The function of the domains access and identity."""

from backend.domains.access.routes import build_router
from backend.domains.identity.routes import build_router as build_identity_router
from backend.entrypoints import ready
from backend.entrypoints.administration import AccessWiring
from backend.spec.functions.apis import ACCESS_API

_wiring = AccessWiring(ACCESS_API)
_router = build_router(
    _wiring.roles,
    _wiring.user_roles,
    _wiring.constraints,
    _wiring.templates,
    _wiring.explanations,
) | build_identity_router(_wiring.api_keys, _wiring.profiles, _wiring.users)
handler = ready(_wiring.app.handler(_router))
