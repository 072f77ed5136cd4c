"""The errors that the client raises, one class for each meaning of a reply.

VitrineError
├─ ConfigurationError        no address or no key to talk with
├─ UnreachableError          the server or the storage did not answer
├─ ProtocolError             an answer that is not in the contract's form
├─ IntegrityError            bytes that do not match their size or checksum
├─ UnsafePathError           a path from the server that would leave the target folder
└─ ApiError                  the server answered with an error
   ├─ InvalidInputError 400   ├─ GoneError 410               ├─ RateLimitedError 429
   ├─ UnauthenticatedError 401├─ RevisionConflictError 412   ├─ UnavailableError 503
   ├─ PermissionDeniedError 403├─ TooLargeError 413          └─ ServerError other 5xx
   ├─ NotFoundError 404       ├─ RangeError 416
   └─ ConflictError 409

It reads error bodies; it does not decide what is tried again (see vitrine.retry).
"""

from collections.abc import Mapping

import httpx
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError


class VitrineError(Exception):
    """Base of everything that this package raises on purpose."""


class ConfigurationError(VitrineError):
    """No address or credentials are known, or the given ones cannot be used."""


class UnreachableError(VitrineError):
    """The other side could not be reached, or the connection broke, after all attempts."""


class ProtocolError(VitrineError):
    """The answer is not in the form that the contract gives it."""


class IntegrityError(VitrineError):
    """Received bytes have another size or checksum than the server states."""


class UnsafePathError(VitrineError):
    """A path that came from the server would be written outside the target folder."""


class FieldError(BaseModel):
    """One field that the server refused, and why."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    field: str
    message: str


class ErrorBody(BaseModel):
    """The contract's error body; a gateway in front of it sends `message` alone.

    Two routes have an empty object for their message where nothing is found, and a `reason`.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    message: str | dict[str, JsonValue]
    reason: str | None = None
    code: str | None = None
    requestId: str | None = None  # noqa: N815 - the wire's name
    errors: tuple[FieldError, ...] = ()


class ApiError(VitrineError):
    """The server refused the request; carries everything that its error body says."""

    def __init__(
        self,
        *,
        status: int,
        body: ErrorBody,
        content: bytes = b"",
        request: str = "",
        retry_after: float | None = None,
    ) -> None:
        self.status = status
        self.message = body.message if isinstance(body.message, str) else body.reason or ""
        self.code = body.code
        self.request_id = body.requestId
        self.errors = body.errors
        self.content = content
        self.request = request
        self.retry_after = retry_after
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        """The message with the refused fields, unless the message names them already."""
        fields = [
            f"{error.field}: {error.message}"
            for error in self.errors
            if error.message not in self.message
        ]
        return "; ".join([self.message, *fields])


class InvalidInputError(ApiError):
    """400: the request is wrong; `errors` names the fields."""


class UnauthenticatedError(ApiError):
    """401: no credentials, or bad ones."""


class PermissionDeniedError(ApiError):
    """403: this caller may not use the route."""


class NotFoundError(ApiError):
    """404: absent, or not visible to the caller."""


class ConflictError(ApiError):
    """409: it exists already, or its state forbids the change."""


class GoneError(ApiError):
    """410: the file version is archived."""


class RevisionConflictError(ApiError):
    """412: someone else changed it since it was read."""


class TooLargeError(ApiError):
    """413: the body, or the item that it would make, is too large."""


class RangeError(ApiError):
    """416: the asked range lies outside the file."""


class RateLimitedError(ApiError):
    """429: too many requests; `retry_after` says in how many seconds to come back."""


class ServerError(ApiError):
    """Any other 5xx: a fault of the server."""


class UnavailableError(ServerError):
    """503: something behind the server is down."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    400: InvalidInputError,
    401: UnauthenticatedError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    412: RevisionConflictError,
    413: TooLargeError,
    416: RangeError,
    429: RateLimitedError,
    503: UnavailableError,
}


def error_of(response: httpx.Response, *, retry_after: float | None = None) -> ApiError:
    """The exception for a reply with an error status; the body need not be the contract's."""
    try:
        body = ErrorBody.model_validate_json(response.content)
    except ValidationError:
        body = ErrorBody(message=f"{response.status_code} {response.reason_phrase}".strip())
    fallback = ServerError if response.status_code >= 500 else ApiError
    request = f"{response.request.method} {response.request.url.path}"
    return _BY_STATUS.get(response.status_code, fallback)(
        status=response.status_code,
        body=body,
        content=response.content,
        request=request,
        retry_after=retry_after,
    )
