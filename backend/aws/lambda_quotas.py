"""Reads Lambda's quotas of the account."""

from typing import Any

from botocore.exceptions import ClientError

from backend.aws.errors import code_of, translated
from backend.core.errors import UnavailableError
from backend.values import frozen


@frozen
class Instances:
    """The quota "Concurrent executions", and how many of them no function has reserved."""

    total: int
    unreserved: int


def instances(client: Any) -> Instances:
    """Return how many instances of functions may run at once in the account and region.

    Raises:
        UnavailableError: Lambda does not respond, or has had too many requests.
    """
    try:
        with translated("Lambda"):
            limits = client.get_account_settings()["AccountLimit"]
    except ClientError as error:
        if code_of(error) == "TooManyRequestsException":
            raise UnavailableError("Lambda does not respond") from error
        raise
    return Instances(limits["ConcurrentExecutions"], limits["UnreservedConcurrentExecutions"])
