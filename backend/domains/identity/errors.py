"""The errors of identity."""

from backend.core.errors import AlreadyExistsError, NotFoundError, RevisionConflictError


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


class NoUserPoolError(NotFoundError):
    """The deployment has no Cognito user pool."""

    code = "UserPoolNotDeployed"

    def __init__(self) -> None:
        super().__init__("This deployment has no Cognito user pool")
