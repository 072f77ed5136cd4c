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

    Methods that change a user raise PoolUserNotFoundError if the user does not exist, and
    InvalidInputError for values that Cognito does not accept.
    """

    @property
    def pool_id(self) -> str:
        """Return the id of the pool, which is unique."""
        ...

    def list_users(self, page: PageRequest) -> Page[PoolUser]:
        """List at most 60 users, in no order."""
        ...

    def get_user(self, user_id: str) -> PoolUser | None: ...

    def create_user(self, user_id: str, *, email: str, phone: str | None) -> None:
        """Create a user, who is sent a temporary password.

        Raises:
            PoolUserExistsError: the user exists.
        """
        ...

    def change_user(self, user_id: str, *, email: str | None, phone: str | None) -> None:
        """Set the passed values and mark them as verified; an empty phone removes the number."""
        ...

    def delete_user(self, user_id: str) -> None: ...

    def reset_password(self, user: PoolUser) -> None:
        """Send a code for a new password, or a temporary password to a user who never signed in.

        Raises:
            StateForbidsError: the password is not managed by Cognito, or the user is disabled.
        """
        ...
