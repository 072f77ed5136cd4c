"""The table of users' profiles, by access pattern."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from backend.core.errors import AlreadyExistsError
from backend.core.tables import Tables
from backend.core.transactions import Update, Write, absent, equals, put_new
from backend.domains.identity.errors import BookmarksChangedError, SessionsChangedError
from backend.domains.identity.models.users import Bookmark, User
from backend.spec.tables.access import USER_ID, USERS

_KEY = USER_ID.name
_SESSIONS, _BOOKMARKS = "sessions", "bookmarks"


@dataclass(eq=False, repr=False)
class ProfileRepository:
    tables: Tables

    def get(self, user_id: str) -> User | None:
        item = self.tables.get(USERS, {_KEY: user_id})
        return None if item is None else User.model_validate(item)

    def get_many(self, user_ids: Iterable[str]) -> dict[str, User]:
        """Return the existing profiles, by user."""
        rows = self.tables.get_many([(USERS, {_KEY: user_id}) for user_id in user_ids])
        users = (User.model_validate(item) for _, item in rows)
        return {user.user_id: user for user in users}

    def pool_write(self, user_id: str, pool_id: str) -> Update:
        """Return the write that records that a user pool has this user."""
        return Update(table=USERS, key={_KEY: user_id}, set={"poolId": pool_id})

    def sessions_write(
        self, user_id: str, *, before: list[str], after: list[str], pool_id: str | None
    ) -> Update:
        """Return the write that replaces the ids of the user's sessions.

        It is refused if another sign-in has changed them.
        """
        return Update(
            table=USERS,
            key={_KEY: user_id},
            set={_SESSIONS: after, **({} if pool_id is None else {"poolId": pool_id})},
            conditions=(equals(_SESSIONS, before) if before else absent(_SESSIONS),),
            refused=SessionsChangedError(),
        )

    def record_pool(self, user_id: str, pool_id: str) -> None:
        """Record that a user pool has this user."""
        self.tables.write(self.pool_write(user_id, pool_id))

    def record_email(self, user_id: str, email: str) -> None:
        """Record the address that an administrator has set."""
        values = {"email": email, "emailConfirmed": True}
        self.tables.write(Update(table=USERS, key={_KEY: user_id}, set=values))

    def record_deletion(self, user_id: str, at: str) -> None:
        """Record when a user was deleted."""
        self.tables.write(Update(table=USERS, key={_KEY: user_id}, set={"deletedAt": at}))

    def ensure(self, user: User) -> None:
        """Create the profile, unless it exists."""
        item = user.model_dump(by_alias=True, exclude_none=True)
        there = AlreadyExistsError(f"User {user.user_id} already exists")
        with suppress(AlreadyExistsError):
            self.tables.write(put_new(USERS, item, there))

    def store(self, user: User, *others: Write, bookmarks_before: list[Bookmark] | None) -> None:
        """Store the profile; other attributes of the row remain unchanged.

        It is refused if another request has changed the bookmarks.
        """
        values = user.model_dump(
            by_alias=True, exclude_none=True, exclude={"user_id", "deleted_at", "sessions"}
        )
        before = [bookmark.model_dump(by_alias=True) for bookmark in bookmarks_before or ()]
        write = Update(
            table=USERS,
            key={_KEY: user.user_id},
            set=values,
            conditions=(
                absent(_BOOKMARKS) if bookmarks_before is None else equals(_BOOKMARKS, before),
            ),
            refused=BookmarksChangedError(),
        )
        self.tables.transact([write, *others])
