"""The routes about callers themselves."""

from collections.abc import Iterable
from typing import Any

from backend.domains.identity.models.profiles import (
    AllowedApiRoute,
    AllowedApiRoutesReply,
    AllowedRoute,
    ApiRoute,
    ApiRoutesReply,
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
from backend.spec.routes import ROUTES, Route
from backend.spec.routes.categories import category_of


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

    @router.bind(routes.LIST_API_ROUTES)
    def list_api_routes(call: Call) -> ApiRoutesReply:  # noqa: ARG001 - every endpoint takes the call
        return ApiRoutesReply(
            routes=[
                ApiRoute(**_by_path(of_path), unauthenticated=of_path[0].public)
                for of_path in _grouped(ROUTES)
            ]
        )

    @router.bind(routes.LIST_ALLOWED_API_ROUTES)
    def list_allowed_api_routes(call: Call) -> AllowedApiRoutesReply:
        allowed = service.allowed_api_routes(call.caller)
        return AllowedApiRoutesReply(
            routes=[AllowedApiRoute(**_by_path(of_path)) for of_path in _grouped(allowed)],
            user_id=call.caller.user_id,
        )


def _grouped(declared: Iterable[Route]) -> list[list[Route]]:
    by_path: dict[str, list[Route]] = {}
    for route in declared:
        by_path.setdefault(route.path, []).append(route)
    return [by_path[path] for path in sorted(by_path)]


def _by_path(of_path: list[Route]) -> dict[str, Any]:
    first = of_path[0]
    methods = [route.method for route in of_path]
    return {"path": first.path, "methods": methods, "category": category_of(first)}


def _reply(user: User) -> ProfileReply:
    profile = Profile(user_id=user.user_id, email=user.email, bookmarks=user.bookmarks)
    return ProfileReply(message=Profiles(items=[profile]))
