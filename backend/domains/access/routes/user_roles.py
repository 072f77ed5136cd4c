"""The routes of assignments of roles to users."""

from backend.core.clock import iso
from backend.core.models import PageQuery
from backend.domains.access.models.roles import (
    Operation,
    UserBody,
    UserRoleOperationReply,
    UserRolesBody,
    UserRolesReply,
    UsersRolesReply,
)
from backend.domains.access.service.user_roles import UserRoleService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes

_DONE = {"create": "added", "update": "changed", "delete": "removed"}


def bind_user_roles(router: Router, service: UserRoleService) -> None:
    """Bind the routes of users' roles to the service."""

    def done(operation: Operation, user_id: str) -> UserRoleOperationReply:
        return UserRoleOperationReply(
            message=f"Roles of {user_id} were {_DONE[operation]}",
            user_id=user_id,
            operation=operation,
            timestamp=iso(service.clock()),
        )

    @router.bind(routes.LIST_USER_ROLES)
    def list_user_roles(call: Call, query: PageQuery) -> UsersRolesReply:
        page = service.list_user_roles(call.caller, call.page(query))
        return UsersRolesReply(
            items=[
                UserRolesReply(
                    user_id=user.user_id,
                    role_name=sorted(row.role_name for row in user.rows),
                    created_on=min(row.created_on for row in user.rows),
                )
                for user in page.items
            ],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.ADD_USER_ROLES)
    def add_user_roles(call: Call, body: UserRolesBody) -> UserRoleOperationReply:
        service.add_user_roles(call.caller, body)
        return done("create", body.user_id)

    @router.bind(routes.SET_USER_ROLES)
    def set_user_roles(call: Call, body: UserRolesBody) -> UserRoleOperationReply:
        service.set_user_roles(call.caller, body)
        return done("update", body.user_id)

    @router.bind(routes.DELETE_USER_ROLES)
    def delete_user_roles(call: Call, body: UserBody) -> UserRoleOperationReply:
        service.delete_user_roles(call.caller, body.user_id)
        return done("delete", body.user_id)
