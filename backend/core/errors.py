"""The errors of the domain. `backend/http/errors.py` maps them to HTTP statuses.

    VitrineError
    ├── InvalidInputError        the request is invalid; names the field
    ├── UnauthenticatedError     credentials are missing or invalid
    ├── PermissionDeniedError    the caller may not use this
    ├── NotFoundError            absent, or not visible to the caller: the two look the same
    ├── GoneError                existed, but is archived
    ├── ConflictError            the state does not allow it
    │   ├── AlreadyExistsError
    │   ├── NotEmptyError
    │   └── StateForbidsError
    ├── RevisionConflictError    changed after the caller read it (`If-Match`)
    ├── TooLargeError
    ├── RangeError               the requested byte range is outside the content
    ├── RateLimitedError
    ├── NotServedError           a route of a later contract
    └── UnavailableError         a backing service is down; the request can be repeated

A slice subclasses one, names the fact (`AssetNotFoundError`), takes the ids, builds the message and
gives it a stable `code`.
"""

from typing import ClassVar, Self

from backend.values import frozen


@frozen
class FieldError:
    """One invalid field: its path in the request (`files.0.relativeKey`) and the problem."""

    field: str
    message: str


class VitrineError(Exception):
    """The base of all errors that become replies. `code` is stable; the message is for people."""

    code: ClassVar[str] = "Error"
    # False for conflicts with a user's change and for requests that only the user can correct: an
    # operator has nothing to do.
    needs_operator: ClassVar[bool] = True
    """Whether a job that fails with this error raises an alarm."""

    def __init__(self, message: str, *, fields: tuple[FieldError, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    @classmethod
    def of(cls, field: str, message: str) -> Self:
        """Return the error of one field. The message names the field too."""
        return cls(f"{field}: {message}", fields=(FieldError(field, message),))


class InvalidInputError(VitrineError):
    """The request is invalid."""

    code = "InvalidInput"


class UnauthenticatedError(VitrineError):
    """Credentials are missing or invalid."""

    code = "Unauthenticated"


class PermissionDeniedError(VitrineError):
    """The caller does not have the required permission."""

    code = "PermissionDenied"


class NotFoundError(VitrineError):
    """Not found, or not visible to the caller."""

    code = "NotFound"


class GoneError(VitrineError):
    """The resource is archived and not available."""

    code = "Gone"


class ConflictError(VitrineError):
    """The state of this or of a related resource does not allow the operation."""

    code = "Conflict"


class AlreadyExistsError(ConflictError):
    """The name or id is already in use."""

    code = "AlreadyExists"


class NotEmptyError(ConflictError):
    """The resource is not empty."""

    code = "NotEmpty"


class StateForbidsError(ConflictError):
    """The state of the resource does not allow the operation."""

    code = "StateForbids"


class RevisionConflictError(VitrineError):
    """The resource was changed after the caller read it (`If-Match`)."""

    code = "RevisionConflict"


class TooLargeError(VitrineError):
    """An item or a body exceeds a size limit."""

    code = "TooLarge"
    needs_operator = False  # only a user can make it smaller


class RangeError(VitrineError):
    """The requested byte range is outside the content; `size` is the content's size in bytes."""

    code = "RangeNotSatisfiable"

    def __init__(self, message: str, *, size: int) -> None:
        super().__init__(message)
        self.size = size


class RateLimitedError(VitrineError):
    """Too many requests; `retry_after` is in seconds."""

    code = "RateLimited"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotServedError(VitrineError):
    """The route belongs to a later VAMS release; the message names the served one."""

    code = "NotServed"


class UnavailableError(VitrineError):
    """A backing service is unavailable; the request can be repeated."""

    code = "Unavailable"
