"""The routes of roles."""

from backend.core.clock import iso
from backend.core.models import PageQuery
from backend.domains.access.models.roles import (
    Operation,
    RoleBody,
    RoleOperationReply,
    RolePath,
    RoleReply,
    RolesReply,
    UpdateRoleBody,
)
from backend.domains.access.service.roles import RoleService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes

_DONE = {"create": "created", "update": "changed", "delete": "deleted"}


def bind_roles(router: Router, service: RoleService) -> None:
    """Bind the routes of roles to the service."""

    def done(
        operation: Operation, role_name: str, *, job_id: str | None = None
    ) -> RoleOperationReply:
        return RoleOperationReply(
            message=f"Role {role_name} was {_DONE[operation]}",
            role_name=role_name,
            operation=operation,
            timestamp=iso(service.clock()),
            job_id=job_id,
        )

    @router.bind(routes.LIST_ROLES)
    def list_roles(call: Call, query: PageQuery) -> RolesReply:
        page = service.list_roles(call.caller, call.page(query))
        return RolesReply(
            items=[RoleReply.model_validate(role.model_dump()) for role in page.items],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.CREATE_ROLE)
    def create_role(call: Call, body: RoleBody) -> RoleOperationReply:
        service.create_role(call.caller, body)
        return done("create", body.role_name)

    @router.bind(routes.UPDATE_ROLE)
    def update_role(call: Call, body: UpdateRoleBody) -> RoleOperationReply:
        service.update_role(call.caller, body)
        return done("update", body.role_name)

    @router.bind(routes.DELETE_ROLE)
    def delete_role(call: Call, path: RolePath) -> RoleOperationReply:
        job_id = service.delete_role(call.caller, path.role_id)
        return done("delete", path.role_id, job_id=job_id)
