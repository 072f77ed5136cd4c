"""The routes of access: keys, roles, assignments, the user pool, constraints, callers."""

from backend.domains.access.routes.callers import bind_callers
from backend.domains.access.routes.constraints import bind_constraints, bind_templates
from backend.domains.access.routes.explanations import bind_explanations
from backend.domains.access.routes.keys import bind_keys
from backend.domains.access.routes.roles import bind_roles
from backend.domains.access.routes.user_roles import bind_user_roles
from backend.domains.access.routes.users import bind_users
from backend.domains.access.service.constraints import ConstraintService
from backend.domains.access.service.explanations import ExplainService
from backend.domains.access.service.keys import ApiKeyService
from backend.domains.access.service.profiles import ProfileService
from backend.domains.access.service.roles import RoleService
from backend.domains.access.service.templates import TemplateService
from backend.domains.access.service.user_roles import UserRoleService
from backend.domains.access.service.users import UserService
from backend.http.router import Router


def build_router(
    api_keys: ApiKeyService,
    roles: RoleService,
    user_roles: UserRoleService,
    profiles: ProfileService,
    users: UserService,
    constraints: ConstraintService,
    templates: TemplateService,
    explanations: ExplainService,
) -> Router:
    """Bind the routes of access to their services."""
    router = Router()
    bind_keys(router, api_keys)
    bind_roles(router, roles)
    bind_user_roles(router, user_roles)
    bind_callers(router, profiles)
    bind_users(router, users)
    bind_constraints(router, constraints)
    bind_templates(router, templates)
    bind_explanations(router, explanations)
    return router
