"""The routes of access: roles, assignments, constraints, templates, explanations."""

from backend.domains.access.routes.constraints import bind_constraints, bind_templates
from backend.domains.access.routes.explanations import bind_explanations
from backend.domains.access.routes.roles import bind_roles
from backend.domains.access.routes.user_roles import bind_user_roles
from backend.domains.access.service.constraints import ConstraintService
from backend.domains.access.service.explanations import ExplainService
from backend.domains.access.service.roles import RoleService
from backend.domains.access.service.templates import TemplateService
from backend.domains.access.service.user_roles import UserRoleService
from backend.http.router import Router


def build_router(
    roles: RoleService,
    user_roles: UserRoleService,
    constraints: ConstraintService,
    templates: TemplateService,
    explanations: ExplainService,
) -> Router:
    """Bind the routes of access to their services."""
    router = Router()
    bind_roles(router, roles)
    bind_user_roles(router, user_roles)
    bind_constraints(router, constraints)
    bind_templates(router, templates)
    bind_explanations(router, explanations)
    return router
