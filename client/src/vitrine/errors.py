"""The errors that the client raises, one class for each meaning of a reply.

VitrineError
├─ ConfigurationError        no address or no key is configured
├─ UnreachableError          the server or the storage did not respond
├─ ProtocolError             a response that does not match the contract
├─ IntegrityError            bytes that do not match their size or checksum
├─ UnsafePathError           a path from the server that would leave the target folder
└─ ApiError                  the server returned an error
   ├─ InvalidInputError 400   ├─ GoneError 410               ├─ RateLimitedError 429
   ├─ UnauthenticatedError 401├─ RevisionConflictError 412   ├─ UnavailableError 503
   ├─ PermissionDeniedError 403├─ TooLargeError 413          └─ ServerError other 5xx
   ├─ NotFoundError 404       ├─ RangeError 416
   └─ ConflictError 409

This module parses error bodies; vitrine.retry decides what is retried.
"""

from collections.abc import Mapping

import httpx
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError


class VitrineError(Exception):
    """Base of all errors that this package raises."""


class ConfigurationError(VitrineError):
    """No address or credentials are configured, or they cannot be used."""


class UnreachableError(VitrineError):
    """The server could not be reached, or the connection broke, after all attempts."""


class ProtocolError(VitrineError):
    """The response does not match the contract."""


class IntegrityError(VitrineError):
    """Received bytes have another size or checksum than the server states."""


class InvalidNameError(VitrineError):
    """A name or path that no request can have."""


class UnsafePathError(VitrineError):
    """A path from the server would be written outside the target folder."""


class FieldError(BaseModel):
    """One field that the server rejected, and the reason."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    field: str
    message: str


class ErrorBody(BaseModel):
    """The error body of the contract; a gateway in front of it sends only `message`.

    For two routes, the message of a 404 is an empty object, with a `reason`.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    message: str | dict[str, JsonValue]
    reason: str | None = None
    code: str | None = None
    requestId: str | None = None  # noqa: N815 - the wire's name
    errors: tuple[FieldError, ...] = ()


class ApiError(VitrineError):
    """The server rejected the request; contains the whole error body."""

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
        """Return the message with the rejected fields, unless it names them already."""
        fields = [
            f"{error.field}: {error.message}"
            for error in self.errors
            if error.message not in self.message
        ]
        return "; ".join([self.message, *fields])


class InvalidInputError(ApiError):
    """400: the request is wrong; `errors` names the fields."""


class UnauthenticatedError(ApiError):
    """401: credentials are missing or invalid."""


class PermissionDeniedError(ApiError):
    """403: the caller does not have the required permission."""


class NotFoundError(ApiError):
    """404: not found, or not visible to the caller."""


class ConflictError(ApiError):
    """409: the resource exists already, or its state does not allow the change."""


class GoneError(ApiError):
    """410: the file version is archived."""


class RevisionConflictError(ApiError):
    """412: the resource was changed since it was read."""


class TooLargeError(ApiError):
    """413: the body, or the resulting item, is too large."""


class RangeError(ApiError):
    """416: the requested range is outside the file."""


class RateLimitedError(ApiError):
    """429: too many requests; `retry_after` is the number of seconds to wait."""


class ServerError(ApiError):
    """Any other 5xx: an internal error of the server."""


class UnavailableError(ServerError):
    """503: a service behind the server is unavailable."""


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


_BUSY = "the server did not answer in time, or is busy; the request may have been carried out"
# Statuses that come from a gateway if the reply has no code. The server always sends one.
_OF_GATEWAYS: Mapping[int, str] = {
    403: "probably the key or token is unknown, expired or disabled",
    502: _BUSY,
    503: _BUSY,
    504: _BUSY,
}


def error_of(response: httpx.Response, *, retry_after: float | None = None) -> ApiError:
    """Return the exception for a reply with an error status; the body may have any form."""
    try:
        body = ErrorBody.model_validate_json(response.content)
    except ValidationError:
        body = ErrorBody(message=f"{response.status_code} {response.reason_phrase}".strip())
    if body.code is None and response.status_code in _OF_GATEWAYS:
        message = body.message if isinstance(body.message, str) else ""
        fact = _OF_GATEWAYS[response.status_code]
        body = body.model_copy(update={"message": f"{message}: {fact}".removeprefix(": ")})
    fallback = ServerError if response.status_code >= 500 else ApiError
    request = f"{response.request.method} {response.request.url.path}"
    return _BY_STATUS.get(response.status_code, fallback)(
        status=response.status_code,
        body=body,
        content=response.content,
        request=request,
        retry_after=retry_after,
    )
