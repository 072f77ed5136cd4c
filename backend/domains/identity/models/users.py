"""Users, as stored."""

from backend.core.models import WireModel


class Bookmark(WireModel):
    """A search or an asset that a user has saved, by its address in the page."""

    name: str
    address: str


class User(WireModel):
    """The profile of a user; `email` is where notifications go once it is confirmed.

    `email_confirmed` is true if the identity provider has verified the address, or an administrator
    has set it.

    `pool_id` is the user pool that had this user when the product last created, changed or deleted
    the user there, or created an API key for the user.

    `deleted_at` is when a user of this id was last deleted from the pool. It is kept if the id is
    used again: what the former user had left must not act with the rights of the new one.

    `sessions` are the ids of the latest sessions, oldest first; some of them may have ended.
    """

    user_id: str
    created_on: str = ""
    email: str | None = None
    email_confirmed: bool | None = None
    pool_id: str | None = None
    deleted_at: str | None = None
    sessions: list[str] | None = None
    bookmarks: list[Bookmark] | None = None
