"""Bodies and replies of the routes about callers themselves: profile, allowed pages."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import OptionalBody, WireModel
from backend.core.names import Email, Line, UserId

MAX_ROUTES = 1000


class ProfilePath(WireModel):
    user_id: UserId


class ProfileBody(OptionalBody):
    """The email address for notifications, if the credentials contain none."""

    email: Email | None = None


class Profile(WireModel):
    user_id: str
    email: str | None = None


class Profiles(WireModel):
    items: Annotated[list[Profile], Field(alias="Items")]


class ProfileReply(WireModel):
    """Always one profile, in the list that VAMS clients expect."""

    message: Profiles


class WebRoute(WireModel):
    """A page of the web application to check."""

    method: Literal["GET", "POST", "PUT", "DELETE"]
    route_path: Annotated[Line, Field(alias="route__path", min_length=1, max_length=1024)]


class WebRoutesBody(WireModel):
    routes: Annotated[list[WebRoute], Field(max_length=MAX_ROUTES)]


class AllowedRoute(WebRoute):
    object_type: Annotated[Literal["web"], Field(alias="object__type")] = "web"


class WebRoutesReply(WireModel):
    """`email` is the caller's user id, which VAMS clients display."""

    allowed_routes: list[AllowedRoute]
    email: str
