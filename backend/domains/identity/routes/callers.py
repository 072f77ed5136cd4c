"""The routes about callers themselves."""

from backend.domains.identity.models.profiles import (
    AllowedRoute,
    Profile,
    ProfileBody,
    ProfilePath,
    ProfileReply,
    Profiles,
    WebRoutesBody,
    WebRoutesReply,
)
from backend.domains.identity.models.users import User
from backend.domains.identity.service.profiles import ProfileService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def bind_callers(router: Router, service: ProfileService) -> None:
    """Bind the routes of profiles and pages to the service."""

    @router.bind(routes.GET_LOGIN_PROFILE)
    def get_login_profile(call: Call, path: ProfilePath) -> ProfileReply:
        return _reply(service.get_profile(call.caller, path.user_id))

    @router.bind(routes.UPDATE_LOGIN_PROFILE)
    def update_login_profile(call: Call, path: ProfilePath, body: ProfileBody) -> ProfileReply:
        return _reply(service.store_profile(call.caller, path.user_id, body))

    @router.bind(routes.LIST_ALLOWED_ROUTES)
    def list_allowed_routes(call: Call, body: WebRoutesBody) -> WebRoutesReply:
        allowed = service.allowed_routes(call.caller, body.routes)
        return WebRoutesReply(
            allowed_routes=[AllowedRoute.model_validate(route.model_dump()) for route in allowed],
            email=call.caller.email or call.caller.user_id,
        )


def _reply(user: User) -> ProfileReply:
    profile = Profile(user_id=user.user_id, email=user.email, bookmarks=user.bookmarks)
    return ProfileReply(message=Profiles(items=[profile]))
