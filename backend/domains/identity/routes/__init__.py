"""The routes of identity: keys, sessions, callers, the user pool."""

from backend.domains.identity.routes.callers import bind_callers
from backend.domains.identity.routes.keys import bind_keys, bind_own_keys
from backend.domains.identity.routes.sessions import bind_sessions
from backend.domains.identity.routes.users import bind_users
from backend.domains.identity.service.keys import ApiKeyService
from backend.domains.identity.service.own_keys import OwnKeyService
from backend.domains.identity.service.profiles import ProfileService
from backend.domains.identity.service.sessions import SessionService
from backend.domains.identity.service.users import UserService
from backend.http.router import Router


def build_router(
    api_keys: ApiKeyService, sessions: SessionService, profiles: ProfileService, users: UserService
) -> Router:
    """Bind the routes of identity to their services."""
    router = Router()
    bind_keys(router, api_keys)
    bind_own_keys(router, OwnKeyService(api_keys))
    bind_sessions(router, sessions)
    bind_callers(router, profiles)
    bind_users(router, users)
    return router
