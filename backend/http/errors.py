"""Maps our errors to HTTP statuses, and unexpected ones to a 500 with a fixed text."""

import json
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from backend.core import errors

_logger = Logger(child=True)

# The status of each error class. Subclasses without an entry use that of the nearest base class.
STATUSES: dict[type[errors.VitrineError], int] = {
    errors.InvalidInputError: 400,
    errors.UnauthenticatedError: 401,
    errors.PermissionDeniedError: 403,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.GoneError: 410,
    errors.RevisionConflictError: 412,
    errors.TooLargeError: 413,
    errors.RangeError: 416,
    errors.RateLimitedError: 429,
    errors.NotServedError: 501,
    errors.UnavailableError: 503,
}

HEADERS = {"Cache-Control": "no-cache, no-store", "X-Content-Type-Options": "nosniff"}


def status_of(error: errors.VitrineError) -> int:
    """Return the HTTP status of one of our errors."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def error_response(
    error: errors.VitrineError, request_id: str, *, empty_not_found: bool = False
) -> Response[str]:
    """Return the response to a request that failed with one of our errors."""
    body: dict[str, Any] = {"message": error.message, "code": error.code, "requestId": request_id}
    if empty_not_found and isinstance(error, errors.NotFoundError):
        body |= {"message": {}, "reason": error.message}
    if error.fields:
        body["errors"] = [{"field": f.field, "message": f.message} for f in error.fields]
    headers = dict(HEADERS)
    if isinstance(error, errors.RateLimitedError):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.RangeError):
        headers["Content-Range"] = f"bytes */{error.size}"
    log_outage(error)
    return _json(status_of(error), body, headers)


def log_outage(error: errors.VitrineError) -> None:
    """Log an error that the caller cannot avoid."""
    if isinstance(error, errors.UnavailableError):
        _logger.warning("unavailable", exc_info=error)


def unexpected_response(error: BaseException, request_id: str) -> Response[str]:
    """Return the response to an unexpected error, which is logged with its traceback."""
    _logger.error("unexpected error", exc_info=error)
    body = {"message": "Internal error", "code": "InternalError", "requestId": request_id}
    return _json(500, body, dict(HEADERS))


def _json(status: int, body: dict[str, Any], headers: dict[str, str]) -> Response[str]:
    return Response(
        status_code=status,
        content_type="application/json",
        body=json.dumps(body),
        headers=dict(headers),
    )
