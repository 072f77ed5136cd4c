"""Translates errors of boto3 into ours, by the meaning of the operation."""

from collections.abc import Generator
from contextlib import contextmanager

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from backend.core.errors import (
    InvalidInputError,
    TooLargeError,
    UnavailableError,
    VitrineError,
)

# Error codes of a service, or of its key service, that is unavailable or overloaded. S3's
# RequestTimeout is a 400. A queue does not exist while a local SQS restores its queues.
OUTAGE_CODES = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "InternalError",
        "InternalServerError",
        "KMS.ThrottlingException",
        "KMSThrottling",
        "KmsThrottled",
        "ProvisionedThroughputExceededException",
        "QueueDoesNotExist",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestTimeout",
        "ServiceUnavailable",
        "SlowDown",
        "ThrottlingException",
        "TransactionInProgressException",
    }
)
# S3's error code for reading an object in an archive storage class.
NOT_RESTORED = "InvalidObjectState"
_SERVER_ERROR = 500
_FORBIDDEN = 403
# DynamoDB denies with status 400; IAM may not know the credentials of a new role yet.
_DENIAL_CODES = frozenset({"AccessDeniedException", "UnrecognizedClientException"})


class DeniedError(Exception):
    """A service denies a request of the function's role; the message names request and reason."""


def code_of(error: ClientError) -> str:
    """Return the AWS error code, such as `ConditionalCheckFailedException`."""
    return error.response.get("Error", {}).get("Code", "")


def is_outage(error: ClientError) -> bool:
    """Return whether the service failed, rather than rejecting the request."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return code_of(error) in OUTAGE_CODES or status >= _SERVER_ERROR


@contextmanager
def denials_named() -> Generator[None]:
    """Raise DeniedError for a request that an AWS service denies; pass all other errors on."""
    try:
        yield
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status == _FORBIDDEN or code_of(error) in _DENIAL_CODES:
            reason = error.response.get("Error", {}).get("Message", code_of(error))
            raise DeniedError(f"{error.operation_name} is denied: {reason}") from error
        raise


@contextmanager
def translated(service: str) -> Generator[None]:
    """Raise UnavailableError for an outage of the service; pass all other errors on."""
    try:
        yield
    except (BotoConnectionError, HTTPClientError) as error:
        raise UnavailableError(f"{service} does not respond") from error
    except ClientError as error:
        if is_outage(error):
            raise UnavailableError(f"{service} does not respond") from error
        raise


@contextmanager
def translated_write() -> Generator[None]:
    """As `translated`, for DynamoDB writes.

    Items that are too large or invalid raise our errors.
    """
    try:
        with translated("DynamoDB"):
            yield
    except ClientError as error:
        if code_of(error) == "ValidationException":
            refusal = invalid_item(error.response.get("Error", {}).get("Message", ""))
            if refusal is not None:
                raise refusal from error
        raise


def invalid_item(message: str) -> VitrineError | None:
    """Return our error for a validation error about an item or its size, None for any other.

    A single write receives the message as a `ValidationException`, a transaction as the
    cancellation reason of one of its writes.
    """
    lowered = message.lower()
    if "transaction payload size" in lowered:
        return TooLargeError("the change writes more than 4 MB at once")
    if "size" in lowered and "exceeded" in lowered:
        return TooLargeError("the item is larger than 400 KB")
    if "number" in lowered and "precision" in lowered:
        return InvalidInputError("a number has more than 38 digits")
    return None
