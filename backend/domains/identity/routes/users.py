"""The routes of the user pool."""

from typing import Literal

from backend.core.clock import iso
from backend.core.user_pool import PoolUser
from backend.domains.identity.models.sign_ins import (
    CreateSignInBody,
    ResetPasswordBody,
    SignInOperationReply,
    SignInPath,
    SignInReply,
    SignInsQuery,
    SignInsReply,
    UpdateSignInBody,
)
from backend.domains.identity.service.users import UserService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes

_Operation = Literal["create", "update", "delete", "resetPassword"]
_DONE = {
    "create": "was created; a temporary password is sent by email",
    "update": "was updated",
    "delete": "was deleted",
    "resetPassword": "must choose a new password",
}


def bind_users(router: Router, service: UserService) -> None:
    """Bind the routes of the user pool to the service."""

    def done(operation: _Operation, user_id: str) -> SignInOperationReply:
        return SignInOperationReply(
            message=f"User {user_id} {_DONE[operation]}",
            user_id=user_id,
            operation=operation,
            timestamp=iso(service.clock()),
        )

    @router.bind(routes.LIST_COGNITO_USERS)
    def list_cognito_users(call: Call, query: SignInsQuery) -> SignInsReply:
        page = service.list_users(call.caller, call.page(query))
        users, token = [_reply(user) for user in page.items], call.next_token(page.after)
        return SignInsReply(users=users, items=users, next_token=token, web_next_token=token)

    @router.bind(routes.CREATE_COGNITO_USER)
    def create_cognito_user(call: Call, body: CreateSignInBody) -> SignInOperationReply:
        service.create_user(call.caller, body)
        return done("create", body.user_id)

    @router.bind(routes.UPDATE_COGNITO_USER)
    def update_cognito_user(
        call: Call, path: SignInPath, body: UpdateSignInBody
    ) -> SignInOperationReply:
        service.update_user(call.caller, path.user_id, body)
        return done("update", path.user_id)

    @router.bind(routes.DELETE_COGNITO_USER)
    def delete_cognito_user(call: Call, path: SignInPath) -> SignInOperationReply:
        service.delete_user(call.caller, path.user_id)
        return done("delete", path.user_id)

    @router.bind(routes.RESET_COGNITO_PASSWORD)
    def reset_cognito_password(
        call: Call,
        path: SignInPath,
        body: ResetPasswordBody,  # noqa: ARG001 - that it is there and true is all
    ) -> SignInOperationReply:
        service.reset_password(call.caller, path.user_id)
        return done("resetPassword", path.user_id)


def _reply(user: PoolUser) -> SignInReply:
    return SignInReply(
        user_id=user.user_id,
        email=user.email or "",
        phone=user.phone,
        user_status=user.status,
        enabled=user.enabled,
        user_create_date=user.created_at,
        user_last_modified_date=user.modified_at,
        mfa_enabled=user.mfa_enabled,
    )
