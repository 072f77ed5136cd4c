"""The errors of comments."""

from backend.core.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    PermissionDeniedError,
)


class CommentNotFoundError(NotFoundError):
    code = "CommentNotFound"

    def __init__(self, asset_id: str, key: str) -> None:
        super().__init__(f"Asset {asset_id} has no comment {key}")


class CommentExistsError(AlreadyExistsError):
    code = "CommentExists"

    def __init__(self, key: str) -> None:
        super().__init__(f"A comment {key} already exists, or existed and was deleted")


class NotTheOwnerError(PermissionDeniedError):
    """Only the author of a comment can change or delete it."""

    code = "NotTheOwner"

    def __init__(self, key: str) -> None:
        super().__init__(f"Only the author of the comment {key} can change or delete it")


class CommentOvertakenError(ConflictError):
    """The comment is being changed by other requests."""

    code = "CommentConflict"

    def __init__(self, key: str) -> None:
        super().__init__(f"The comment {key} is being changed by other requests; read it again")
