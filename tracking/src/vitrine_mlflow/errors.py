"""Failures of DynamoDB in the form in which MLflow reports errors."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import (
    BAD_REQUEST,
    INTERNAL_ERROR,
    INVALID_PARAMETER_VALUE,
    INVALID_STATE,
    PERMISSION_DENIED,
    RESOURCE_ALREADY_EXISTS,
    RESOURCE_DOES_NOT_EXIST,
    TEMPORARILY_UNAVAILABLE,
)

_DENIED = {"AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException"}
_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
}


class ConflictError(Exception):
    """A condition of a write did not hold, or another transaction changed the same items."""

    def __init__(self, failed: frozenset[int] = frozenset()) -> None:
        super().__init__(f"conditions failed: {sorted(failed)}")
        self.failed = failed  # the positions of the writes whose conditions failed


def invalid(message: str) -> MlflowException:
    return MlflowException(message, INVALID_PARAMETER_VALUE)


def missing_error(message: str) -> MlflowException:
    return MlflowException(message, RESOURCE_DOES_NOT_EXIST)


def exists(message: str) -> MlflowException:
    return MlflowException(message, RESOURCE_ALREADY_EXISTS)


def wrong_state(message: str) -> MlflowException:
    return MlflowException(message, INVALID_STATE)


def denied_error(message: str) -> MlflowException:
    return MlflowException(message, PERMISSION_DENIED)


def violated_error(message: str) -> MlflowException:
    """Return the error that MLflow's own store raises for a failed constraint of its SQL tables."""
    return MlflowException(message, BAD_REQUEST)


@contextmanager
def parent_required() -> Generator[None]:
    """Report what is missing as the violation of a foreign key, as MLflow's own store does.

    Raises:
        MlflowException: something was missing.
    """
    try:
        yield
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        raise violated_error(str(error.message)) from error


@contextmanager
def type_errors_reported() -> Generator[None]:
    """Report values of wrong types and forms as internal errors, as MLflow's own store does.

    Raises:
        MlflowException: a value could not be used.
    """
    try:
        yield
    except (AttributeError, LookupError, SyntaxError, TypeError, ValueError) as error:
        raise MlflowException(str(error), INTERNAL_ERROR) from error


@contextmanager
def page_token_checked() -> Generator[None]:
    """Refuse a page token that cannot be read: MLflow's own store replies 500 to some of them.

    Raises:
        MlflowException: reading it failed.
    """
    try:
        yield
    except (
        *(ArithmeticError, AttributeError, LookupError),
        *(RecursionError, TypeError, ValueError),
    ) as error:
        raise invalid("Invalid page token: this search has not returned it.") from error


@contextmanager
def translate_errors(
    table: str, region: str, operation: str, partition: str = ""
) -> Generator[None]:
    """Turn the failure of a request into one sentence that names the table.

    Raises:
        ConflictError: a condition did not hold.
        MlflowException: any other failure.
    """
    try:
        yield
    except ClientError as error:
        reply: Any = error.response
        code: str = reply.get("Error", {}).get("Code", "")
        if code == "TransactionCanceledException":
            raise _cancellation_error(reply, error, table, partition) from error
        if code in {"ConditionalCheckFailedException", "TransactionInProgressException"}:
            raise ConflictError(frozenset({0})) from error
        raise _client_error(code, table, region, operation, partition, error) from error
    except NoCredentialsError as error:
        raise MlflowException(
            f"No AWS credentials were found to call {operation} on the table '{table}'.",
            PERMISSION_DENIED,
        ) from error
    except BotoCoreError as error:
        raise MlflowException(
            f"{operation} on the table '{table}' in region '{region}' failed: {error}",
            TEMPORARILY_UNAVAILABLE,
        ) from error


def _cancellation_error(
    reply: Any, error: ClientError, table: str, partition: str
) -> ConflictError | MlflowException:
    codes = [reason.get("Code") for reason in reply.get("CancellationReasons", [])]
    if "ItemCollectionSizeLimitExceeded" in codes:
        return _full(table, partition)
    if "ValidationError" in codes:
        return MlflowException(f"DynamoDB refused a write: {error}", INVALID_PARAMETER_VALUE)
    failed = {index for index, code in enumerate(codes) if code == "ConditionalCheckFailed"}
    return ConflictError(frozenset(failed))


def _full(table: str, partition: str) -> MlflowException:
    return MlflowException(
        f"The partition '{partition}' of the table '{table}' has reached DynamoDB's limit of 10 "
        "GB; log to another experiment, or delete runs and traces for good with `mlflow gc`.",
        INVALID_STATE,
    )


def _client_error(
    code: str, table: str, region: str, operation: str, partition: str, error: ClientError
) -> MlflowException:
    if code == "ResourceNotFoundException":
        return MlflowException(
            f"The DynamoDB table '{table}' does not exist in region '{region}', or it lacks the "
            "indexes of this version.",
            INVALID_STATE,
        )
    if code in _DENIED:
        return MlflowException(
            f"Access to the DynamoDB table '{table}' was denied: the credentials need the "
            f"permission dynamodb:{operation}.",
            PERMISSION_DENIED,
        )
    if code == "ItemCollectionSizeLimitExceededException":
        return _full(table, partition)
    if code in _THROTTLED:
        return MlflowException(
            f"The DynamoDB table '{table}' throttled {operation} on '{partition}'.",
            TEMPORARILY_UNAVAILABLE,
        )
    if code == "ValidationException":
        return MlflowException(f"DynamoDB refused the request: {error}", INVALID_PARAMETER_VALUE)
    return MlflowException(f"{operation} on the table '{table}' failed: {error}", INTERNAL_ERROR)
