"""The port to the users who sign in. `backend/aws/user_pool.py` implements it with Cognito."""

from dataclasses import KW_ONLY
from typing import Protocol

from backend.core.errors import AlreadyExistsError, NotFoundError
from backend.core.paging import Page, PageRequest
from backend.values import frozen


class PoolUserNotFoundError(NotFoundError):
    code = "CognitoUserNotFound"

    def __init__(self, user_id: str) -> None:
        super().__init__(f"The user pool has no user {user_id}")


class PoolUserExistsError(AlreadyExistsError):
    code = "CognitoUserExists"

    def __init__(self, user_id: str) -> None:
        super().__init__(f"The user pool already has a user {user_id}")


@frozen
class PoolUser:
    """A user of the pool; `status` is Cognito's word, times are ISO 8601 in UTC."""

    _: KW_ONLY
    user_id: str
    email: str | None
    phone: str | None
    status: str
    enabled: bool
    created_at: str
    modified_at: str
    mfa_enabled: bool


class UserPool(Protocol):
    """Administers users. All may raise UnavailableError.

    Those that change something raise PoolUserNotFoundError for a user who is not there, and
    InvalidInputError for values that Cognito does not take.
    """

    @property
    def pool_id(self) -> str:
        """The id of the pool, which no other pool has."""
        ...

    def list_users(self, page: PageRequest) -> Page[PoolUser]:
        """At most 60 users, in no order."""
        ...

    def get_user(self, user_id: str) -> PoolUser | None: ...

    def create_user(self, user_id: str, *, email: str, phone: str | None) -> None:
        """Make a user, who is sent a temporary password; PoolUserExistsError if it is there."""
        ...

    def change_user(self, user_id: str, *, email: str | None, phone: str | None) -> None:
        """Set what is given, and that it is verified."""
        ...

    def delete_user(self, user_id: str) -> None: ...

    def reset_password(self, user: PoolUser) -> None:
        """Send a code for a new password, or, to one who never signed in, a temporary one again.

        Raises:
            StateForbidsError: the password is not Cognito's, or the user is disabled.
        """
        ...
