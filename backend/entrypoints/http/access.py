"""The function of the domain access."""

from backend.domains.access.routes import build_router
from backend.entrypoints import ready
from backend.entrypoints.administration import AccessWiring
from backend.spec.functions.apis import ACCESS_API

_wiring = AccessWiring(ACCESS_API)
handler = ready(
    _wiring.app.handler(
        build_router(
            _wiring.api_keys,
            _wiring.roles,
            _wiring.user_roles,
            _wiring.profiles,
            _wiring.users,
            _wiring.constraints,
            _wiring.templates,
            _wiring.explanations,
        )
    )
)
