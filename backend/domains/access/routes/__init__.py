"""The routes of access: API keys, roles, who has which, sign-ins, and what callers ask."""

from typing import NamedTuple

from backend.domains.access.routes.callers import bind_callers
from backend.domains.access.routes.keys import bind_keys
from backend.domains.access.routes.roles import bind_roles
from backend.domains.access.routes.user_roles import bind_user_roles
from backend.domains.access.routes.users import bind_users
from backend.domains.access.service import ApiKeyService
from backend.domains.access.service.profiles import ProfileService
from backend.domains.access.service.roles import RoleService
from backend.domains.access.service.user_roles import UserRoleService
from backend.domains.access.service.users import UserService
from backend.http.router import Router


class AccessServices(NamedTuple):
    """What the routes are bound to."""

    api_keys: ApiKeyService
    roles: RoleService
    user_roles: UserRoleService
    profiles: ProfileService
    users: UserService


def build_router(services: AccessServices) -> Router:
    """Bind the routes of access to their services."""
    router = Router()
    bind_keys(router, services.api_keys)
    bind_roles(router, services.roles)
    bind_user_roles(router, services.user_roles)
    bind_callers(router, services.profiles)
    bind_users(router, services.users)
    return router
