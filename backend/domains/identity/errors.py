"""The errors of identity."""

from backend.core.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    PermissionDeniedError,
    RevisionConflictError,
)


class ApiKeyNotFoundError(NotFoundError):
    code = "ApiKeyNotFound"

    def __init__(self, api_key_id: str) -> None:
        super().__init__(f"API key {api_key_id} does not exist")


class ApiKeyExistsError(AlreadyExistsError):
    code = "ApiKeyExists"

    def __init__(self, api_key_id: str) -> None:
        super().__init__(f"API key {api_key_id} already exists")


class ApiKeyRevisionError(RevisionConflictError):
    code = "ApiKeyRevisionConflict"

    def __init__(self, api_key_id: str) -> None:
        super().__init__(f"API key {api_key_id} was changed by someone else; read it again")


class SignInRefusedError(PermissionDeniedError):
    """This credential, or a request by this way, begins no session."""

    code = "SignInRefused"


class SessionsChangedError(ConflictError):
    """The same user signed in several times at once."""

    code = "SessionsChanged"

    def __init__(self) -> None:
        super().__init__("The same user signed in at the same time; try again")


class SessionNotFoundError(NotFoundError):
    """The request was sent with another credential than a session, or the session has ended."""

    code = "SessionNotFound"

    def __init__(self) -> None:
        super().__init__("The request was not sent with a session")


class NoUserPoolError(NotFoundError):
    """The deployment has no Cognito user pool."""

    code = "UserPoolNotDeployed"

    def __init__(self) -> None:
        super().__init__("This deployment has no Cognito user pool")


class BookmarksChangedError(RevisionConflictError):
    """Other requests are changing the bookmarks of the user."""

    code = "BookmarksChanged"

    def __init__(self) -> None:
        super().__init__(
            "The bookmarks of the user are being changed by another request; try again"
        )
