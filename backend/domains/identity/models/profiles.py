"""Bodies and replies of the routes about callers themselves: profile, allowed pages."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from backend.core.models import OptionalBody, WireModel
from backend.core.names import Email, Form, Line, UserId, check_words
from backend.domains.identity.models.users import Bookmark

MAX_ROUTES = 1000


class ProfilePath(WireModel):
    user_id: UserId


# A row has at most 400 kB: a hundred of them, with names of four bytes a character, need 240 kB.
MAX_BOOKMARKS = 100
BookmarkAddress = Annotated[
    str,
    Form(
        r"/([!-.0-~][!-~]{0,1998})?",
        "must be an address in the page of at most 2,000 characters, such as /?q=gear",
    ),
]


class NewBookmark(WireModel):
    name: Annotated[Line, AfterValidator(check_words), Field(min_length=1, max_length=100)]
    address: BookmarkAddress


class ProfileBody(OptionalBody):
    """The email address for notifications, if the credentials contain none; changes of bookmarks.

    A bookmark whose address the user already has replaces its name.
    """

    email: Email | None = None
    add_bookmarks: Annotated[list[NewBookmark] | None, Field(max_length=MAX_BOOKMARKS)] = None
    remove_bookmarks: Annotated[list[BookmarkAddress] | None, Field(max_length=MAX_BOOKMARKS)] = (
        None
    )


class Profile(WireModel):
    """`bookmarks` are the searches and assets that the user has saved in the page."""

    user_id: str
    email: str | None = None
    bookmarks: list[Bookmark] | None = None


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


class AllowedApiRoute(WireModel):
    path: str
    methods: list[str]
    category: str


class AllowedApiRoutesReply(WireModel):
    routes: list[AllowedApiRoute]
    user_id: str


class ApiRoute(AllowedApiRoute):
    unauthenticated: bool


class ApiRoutesReply(WireModel):
    routes: list[ApiRoute]
