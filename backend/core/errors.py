"""The errors of the domain. HTTP statuses are given to them in `backend/http/errors.py`.

    VitrineError
    ├── InvalidInputError        what was sent is wrong; names the field
    ├── UnauthenticatedError     nobody knows who asks
    ├── PermissionDeniedError    the caller may not use this
    ├── NotFoundError            absent, or not visible to the caller: the two look the same
    ├── GoneError                was there, is archived
    ├── ConflictError            the state does not allow it
    │   ├── AlreadyExistsError
    │   ├── NotEmptyError
    │   └── StateForbidsError
    ├── RevisionConflictError    someone else was faster (`If-Match`)
    ├── TooLargeError
    ├── RangeError               no byte of what is asked for is there
    ├── RateLimitedError
    └── UnavailableError         a backing service is down; nothing is lost, try again

A slice subclasses one, names the fact (`AssetNotFoundError`), takes the ids, builds the message and
gives it a stable `code`.
"""

from typing import ClassVar, Self

from backend.values import frozen


@frozen
class FieldError:
    """One field that is wrong: its path in the request (`files.0.relativeKey`) and the fact."""

    field: str
    message: str


class VitrineError(Exception):
    """The base of all errors that are answers; `code` is stable, the message is for people."""

    code: ClassVar[str] = "Error"
    needs_operator: ClassVar[bool] = True
    """Whether a job that ends with it rings: not where somebody's change came first, or where only
    its user can ask for something else, since nothing is to be mended then."""

    def __init__(self, message: str, *, fields: tuple[FieldError, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    @classmethod
    def of(cls, field: str, message: str) -> Self:
        """The error of one field, which its message names too."""
        return cls(f"{field}: {message}", fields=(FieldError(field, message),))


class InvalidInputError(VitrineError):
    """What was sent is wrong."""

    code = "InvalidInput"


class UnauthenticatedError(VitrineError):
    """No credentials, or none that are good."""

    code = "Unauthenticated"


class PermissionDeniedError(VitrineError):
    """The caller may not do this."""

    code = "PermissionDenied"


class NotFoundError(VitrineError):
    """Absent, or not visible to the caller."""

    code = "NotFound"


class GoneError(VitrineError):
    """The thing is archived and not served."""

    code = "Gone"


class ConflictError(VitrineError):
    """The state of the thing, or of another one, does not allow this."""

    code = "Conflict"


class AlreadyExistsError(ConflictError):
    """The name or id is taken."""

    code = "AlreadyExists"


class NotEmptyError(ConflictError):
    """Something is still in it."""

    code = "NotEmpty"


class StateForbidsError(ConflictError):
    """Its state does not allow this."""

    code = "StateForbids"


class RevisionConflictError(VitrineError):
    """The revision that the caller saw is not the current one."""

    code = "RevisionConflict"


class TooLargeError(VitrineError):
    """An item or a body is over a limit."""

    code = "TooLarge"
    needs_operator = False  # only a user can make it smaller


class RangeError(VitrineError):
    """None of the bytes that were asked for is there; `size` is how many there are."""

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


class UnavailableError(VitrineError):
    """A backing service does not answer; the same request can be sent again."""

    code = "Unavailable"
