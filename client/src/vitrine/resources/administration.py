"""Roles, their users, sign-in, and the caller's own profile."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from vitrine import api_models as api
from vitrine.api_models import AllowedApiRoute as AllowedApiRoute
from vitrine.api_models import ApiRoute as ApiRoute
from vitrine.api_models import Profile as Profile
from vitrine.api_models import Role as Role
from vitrine.api_models import Session as Session
from vitrine.api_models import SignIn as SignIn
from vitrine.api_models import UserRoles as UserRoles
from vitrine.api_models import WebRoute as WebRoute
from vitrine.models import Message, Operation, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import path_of


class RoleDeleted(Operation):
    """`job_id` is the job that removes the role from its users, if they are many."""

    job_id: str | None = None


class _Profiles(Wire):
    items: list[Profile] = Field(alias="Items", min_length=1)


class _ProfileReply(Wire):
    message: _Profiles


class _Allowed(Wire):
    allowed_routes: list[WebRoute]


class _ApiRoutes(Wire):
    routes: list[ApiRoute]


class _AllowedApiRoutes(Wire):
    routes: list[AllowedApiRoute]


class Roles(Resource):
    def list(self, *, page_size: int | None = None) -> Iterator[Role]:
        return self._transport.pages(Role, path_of("roles"), page_size=page_size)

    def create(
        self, role_name: str, *, description: str, mfa_required: bool | None = None
    ) -> Operation:
        """Create a role. Raises ConflictError if the name is in use."""
        body = api.RoleBody(role_name=role_name, description=description, mfa_required=mfa_required)
        return self._transport.write(Operation, "POST", path_of("roles"), body=body)

    def update(
        self,
        role_name: str,
        *,
        description: str | None = None,
        mfa_required: bool | None = None,
    ) -> Operation:
        """Change the passed fields. Raises NotFoundError if the role does not exist."""
        body = api.UpdateRoleBody(
            role_name=role_name, description=description, mfa_required=mfa_required
        )
        return self._transport.write(Operation, "PUT", path_of("roles"), body=body)

    def delete(self, role_name: str) -> RoleDeleted:
        """Delete the role and remove it from all users.

        Raises ConflictError for the administrators' role.
        """
        return self._transport.write(RoleDeleted, "DELETE", path_of("roles", role_name))

    def of_users(self, *, page_size: int | None = None) -> Iterator[UserRoles]:
        """List users with their roles."""
        return self._transport.pages(UserRoles, path_of("user-roles"), page_size=page_size)

    def give(self, user_id: str, role_names: Sequence[str]) -> Operation:
        """Add roles to a user. Raises ConflictError if the user has one of them."""
        return self._grant("POST", user_id, role_names)

    def set(self, user_id: str, role_names: Sequence[str]) -> Operation:
        """Replace the roles of a user. Raises ConflictError for the last administrator."""
        return self._grant("PUT", user_id, role_names)

    def take_all(self, user_id: str) -> Operation:
        """Remove all roles.

        Raises ConflictError for the last administrator, NotFoundError without roles.
        """
        body = api.UserBody(user_id=user_id)
        return self._transport.write(Operation, "DELETE", path_of("user-roles"), body=body)

    def _grant(self, method: str, user_id: str, role_names: Sequence[str]) -> Operation:
        body = api.UserRolesBody(user_id=user_id, role_name=role_names)
        return self._transport.write(Operation, method, path_of("user-roles"), body=body)


class SignIns(Resource):
    """All methods raise NotFoundError if the deployment has no user pool."""

    def list(self, *, page_size: int | None = None) -> Iterator[SignIn]:
        path = path_of("user", "cognito")
        return self._transport.pages(SignIn, path, items="users", page_size=page_size)

    def create(self, user_id: str, *, email: str, phone: str | None = None) -> Operation:
        """Create a user, who is sent a temporary password."""
        body = api.CreateSignInBody(user_id=user_id, email=email, phone=phone)
        return self._transport.write(Operation, "POST", path_of("user", "cognito"), body=body)

    def update(
        self,
        user_id: str,
        *,
        email: str | None = None,
        phone: str | None = None,
        clear_phone: bool | None = None,
    ) -> Operation:
        """Change the passed values; `clear_phone` removes the number."""
        body = api.UpdateSignInBody(email=email, phone=phone, clear_phone=clear_phone)
        path = path_of("user", "cognito", user_id)
        return self._transport.write(Operation, "PUT", path, body=body)

    def delete(self, user_id: str) -> Operation:
        path = path_of("user", "cognito", user_id)
        return self._transport.write(Operation, "DELETE", path)

    def reset_password(self, user_id: str) -> Operation:
        path = path_of("user", "cognito", user_id, "resetPassword")
        return self._transport.write(
            Operation, "POST", path, body=api.ResetPasswordBody(confirm_reset=True)
        )


class Sessions(Resource):
    """Sessions of browsers, which the page begins and whose cookie only a browser has."""

    def create(self) -> Session:
        """Begin one. Raises PermissionDeniedError except at the page's address."""
        return self._transport.write(Session, "POST", path_of("auth", "session"))

    def delete(self) -> Message:
        """End that of the request. Raises NotFoundError for other credentials."""
        return self._transport.write(Message, "DELETE", path_of("auth", "session"))


class Profiles(Resource):
    """The caller's own profile; those of other users are refused."""

    def get(self, user_id: str) -> Profile:
        """Return the profile. Raises NotFoundError if the user has none yet."""
        return self._transport.read(_ProfileReply, _profile(user_id)).message.items[0]

    def keep(self, user_id: str, *, email: str | None = None) -> Profile:
        """Create or update the profile."""
        body = api.ProfileBody(email=email)
        reply = self._transport.write(_ProfileReply, "POST", _profile(user_id), body=body)
        return reply.message.items[0]

    def allowed_routes(self, routes: Sequence[WebRoute]) -> list[WebRoute]:
        """Return those of the pages of a web application that the caller may open."""
        body = api.WebRoutesBody(routes=routes)
        path = path_of("auth", "routes")
        return self._transport.write(
            _Allowed, "POST", path, body=body, repeatable=True
        ).allowed_routes

    def api_routes(self) -> list[ApiRoute]:
        """Return the routes of the API by path."""
        return self._transport.read(_ApiRoutes, path_of("auth", "routes", "api")).routes

    def allowed_api_routes(self) -> list[AllowedApiRoute]:
        """Return the routes that the caller may use, by path."""
        path = path_of("auth", "routes", "api", "allowed")
        return self._transport.read(_AllowedApiRoutes, path).routes


def _profile(user_id: str) -> str:
    return path_of("auth", "loginProfile", user_id)
