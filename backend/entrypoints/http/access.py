"""The function of the domains access and identity."""

from backend.domains.access.routes import build_router
from backend.domains.identity.routes import build_router as build_identity_router
from backend.entrypoints.wiring.access import (
    constraints,
    explanations,
    roles,
    templates,
    user_roles,
)
from backend.entrypoints.wiring.api import serve
from backend.entrypoints.wiring.identity import api_keys, profiles, sessions, users
from backend.spec.functions.apis import ACCESS_API

handler = serve(
    ACCESS_API,
    lambda context: (
        build_router(
            roles(context),
            user_roles(context),
            constraints(context),
            templates(context),
            explanations(context),
        )
        | build_identity_router(
            api_keys(context), sessions(context), profiles(context), users(context)
        )
    ),
)
